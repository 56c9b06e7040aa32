package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interpreter-functions/shared/routerconfig"
)

const (
	candidateTag = "candidate"
	routesKey    = "routes.yaml"
	routerPods   = "app.kubernetes.io/component=router"
	// loadedLine is what a router logs with the digest of the routes that it follows.
	loadedLine = "loaded the routes"
)

type options struct {
	namespace string
	configMap string
	path      string
}

// routes is the ConfigMap of the routes.
type routes struct {
	Metadata metadata          `json:"metadata"`
	Data     map[string]string `json:"data"`
	config   *routerconfig.Config
}

func (o *options) routes(ctx context.Context) (*routes, error) {
	r, err := get[routes](ctx, o, "configmap/"+o.configMap)
	if err != nil {
		return nil, err
	}
	if r.config, err = routerconfig.Parse([]byte(r.Data[routesKey])); err != nil {
		return nil, fmt.Errorf("%s in the ConfigMap %s: %w", routesKey, o.configMap, err)
	}
	return r, nil
}

// rollout is that of the function of one operation.
type rollout struct {
	*options
	ctx       context.Context
	operation routerconfig.Operation
	path      routerconfig.Path
	function  routerconfig.Function
	service   string // the Knative Service
	progress  func(format string, args ...any)
}

// find looks the function of an operation up in the routes.
func (o *options) find(ctx context.Context, operation string) (*rollout, error) {
	known, err := o.routes(ctx)
	if err != nil {
		return nil, err
	}
	route, err := o.route(known.config)
	if err != nil {
		return nil, err
	}
	r := &rollout{options: o, ctx: ctx, operation: routerconfig.Operation(operation), path: route.Path}
	function, ok := route.Functions[r.operation]
	if !ok {
		return nil, fmt.Errorf("%s has no function %q: its functions are %s", route.Path, operation, strings.Join(names(route), ", "))
	}
	r.function = function
	r.service = serviceName(function)
	return r, nil
}

// serviceName is the Knative Service at whose cluster-local URL the function is asked.
func serviceName(function routerconfig.Function) string {
	name, _, _ := strings.Cut(function.URL.Hostname(), ".")
	return name
}

func (o *options) route(config *routerconfig.Config) (*routerconfig.Route, error) {
	if o.path == "" && len(config.Routes) == 1 {
		return &config.Routes[0], nil
	}
	paths := make([]string, 0, len(config.Routes))
	for i, route := range config.Routes {
		if string(route.Path) == o.path {
			return &config.Routes[i], nil
		}
		paths = append(paths, string(route.Path))
	}
	return nil, fmt.Errorf("--path must be one of %s", strings.Join(paths, ", "))
}

func names(route *routerconfig.Route) []string {
	list := make([]string, 0, len(route.Functions))
	for name := range route.Functions {
		list = append(list, string(name))
	}
	slices.Sort(list)
	return list
}

// start makes the candidate of an image.
func (r *rollout) start(image string) error {
	s, err := r.ready(r.ctx)
	switch {
	case err != nil:
		return err
	case s.candidate() != "":
		return fmt.Errorf("%s has the candidate %s already: promote it or take it back first", r.operation, s.candidate())
	case s.image() == image:
		return fmt.Errorf("%s has that image already", r.operation)
	}
	stable := s.stable()
	if stable == "" {
		return fmt.Errorf("the traffic of %s is split: let one revision have it all first", r.service)
	}
	r.progress("making a revision of %s", image)
	pinned := traffic{RevisionName: stable, Percent: 100}
	err = r.patch(r.ctx, "ksvc/"+r.service, s.Metadata.ResourceVersion,
		operation{"replace", "/spec/template/spec/containers/0/image", image},
		operation{"add", "/spec/traffic", []traffic{pinned, {LatestRevision: true, Tag: candidateTag}}})
	if err != nil {
		return err
	}
	if s, err = r.ready(r.ctx); err != nil {
		return fmt.Errorf("%w; %s still answers: rollout back %s", err, stable, r.operation)
	}
	// From now on the candidate is this revision, whatever is deployed meanwhile.
	err = r.patch(r.ctx, "ksvc/"+r.service, s.Metadata.ResourceVersion, operation{"add", "/spec/traffic", []traffic{
		pinned, {RevisionName: s.candidate(), Tag: candidateTag},
	}})
	if err != nil {
		return err
	}
	if s, err = r.ready(r.ctx); err != nil {
		return err
	}
	r.progress("%s answers for all objects, and %s is the candidate", stable, s.candidate())
	return nil
}

// share is the candidate with a share of the objects.
func (r *rollout) share(percent int) (*routerconfig.Share, error) {
	s, err := r.ready(r.ctx)
	if err != nil {
		return nil, err
	}
	if s.candidate() == "" {
		return nil, fmt.Errorf("%s has no candidate: rollout start %s", r.operation, r.operation)
	}
	u := *r.function.URL.URL
	u.Host = candidateTag + "-" + u.Host
	share := routerconfig.Percent(percent)
	return &routerconfig.Share{URL: routerconfig.URL{URL: &u}, Percent: &share}, nil
}

func (r *rollout) shadow(percent int) error {
	share, err := r.share(percent)
	if err != nil {
		return err
	}
	if err := r.setRoutes(r.function.Candidate, share); err != nil {
		return err
	}
	r.progress("the candidate's answers about %d %% of the objects are compared: rollout status", percent)
	return nil
}

func (r *rollout) candidate(percent int) error {
	share, err := r.share(percent)
	if err != nil {
		return err
	}
	if err := r.setRoutes(share, r.function.Shadow); err != nil {
		return err
	}
	r.progress("the candidate answers for %d %% of the objects", percent)
	return nil
}

// promote leaves no moment at which an object that the candidate answered for is answered for by the version before.
func (r *rollout) promote() error {
	all, err := r.share(100)
	if err != nil {
		return err
	}
	r.progress("the candidate answers for all objects")
	if err := r.setRoutes(all, r.function.Shadow); err != nil {
		return err
	}
	s, err := r.ready(r.ctx)
	if err != nil {
		return err
	}
	promoted := s.candidate()
	r.progress("%s takes the traffic of %s", promoted, r.service)
	if err := r.setTraffic(s, traffic{RevisionName: promoted, Percent: 100, Tag: candidateTag}); err != nil {
		return err
	}
	if err := r.setRoutes(nil, nil); err != nil {
		return err
	}
	if s, err = r.ready(r.ctx); err != nil {
		return err
	}
	if s.Status.LatestReadyRevisionName != promoted {
		return r.setTraffic(s, traffic{RevisionName: promoted, Percent: 100})
	}
	return r.setTraffic(s, traffic{LatestRevision: true, Percent: 100})
}

// back leaves the Service with the image that it had before.
func (r *rollout) back() error {
	s, err := get[service](r.ctx, r.options, "ksvc/"+r.service)
	if err != nil {
		return err
	}
	stable := s.stable()
	if stable == "" {
		return fmt.Errorf("no revision of %s has all of its traffic: there is nothing to go back to", r.service)
	}
	before, err := get[struct {
		Spec struct {
			Containers []struct {
				Image string `json:"image"`
			} `json:"containers"`
		} `json:"spec"`
	}](r.ctx, r.options, "revision/"+stable)
	if err != nil {
		return err
	}
	image := before.Spec.Containers[0].Image
	if s.candidate() == "" && s.image() == image && r.function.Candidate == nil && r.function.Shadow == nil {
		return fmt.Errorf("%s has no candidate to take back", r.operation)
	}
	r.progress("%s answers for all objects again", stable)
	if err := r.setRoutes(nil, nil); err != nil {
		return err
	}
	if s, err = get[service](r.ctx, r.options, "ksvc/"+r.service); err != nil {
		return err
	}
	err = r.patch(r.ctx, "ksvc/"+r.service, s.Metadata.ResourceVersion,
		operation{"replace", "/spec/template/spec/containers/0/image", image},
		operation{"add", "/spec/traffic", []traffic{{RevisionName: stable, Percent: 100}}})
	if err != nil {
		return err
	}
	if s, err = r.ready(r.ctx); err != nil {
		return err
	}
	return r.setTraffic(s, traffic{LatestRevision: true, Percent: 100})
}

func (r *rollout) setTraffic(s *service, all traffic) error {
	if err := r.patch(r.ctx, "ksvc/"+r.service, s.Metadata.ResourceVersion, operation{"add", "/spec/traffic", []traffic{all}}); err != nil {
		return err
	}
	_, err := r.ready(r.ctx)
	return err
}

// setRoutes changes the candidate and the shadow of the function, and returns when every router knows.
func (r *rollout) setRoutes(candidate, shadow *routerconfig.Share) error {
	known, err := r.routes(r.ctx)
	if err != nil {
		return err
	}
	data, err := routerconfig.Edit([]byte(known.Data[routesKey]), r.path, r.operation, candidate, shadow)
	if err != nil {
		return err
	}
	err = r.patch(r.ctx, "configmap/"+r.configMap, known.Metadata.ResourceVersion,
		operation{"replace", "/data/" + routesKey, string(data)})
	if err != nil {
		return err
	}
	r.function.Candidate, r.function.Shadow = candidate, shadow
	return r.followed(routerconfig.Digest(data))
}

// followed waits until every router has loaded the routes with a digest, which it says in its log.
func (r *rollout) followed(digest string) error {
	r.progress("waiting for the routers to load the routes")
	// A kubelet looks at a pod that changes at once, and at its ConfigMaps with it; otherwise only every minute or so.
	if _, err := r.kubectl(r.ctx, "annotate", "pods", "--selector", routerPods, "--overwrite", "interpreter-functions/routes="+digest); err != nil {
		return err
	}
	err := until(r.ctx, func() (bool, error) {
		logs, err := r.routerLogs(r.ctx)
		if err != nil {
			return false, err
		}
		for _, log := range logs {
			if !strings.Contains(lastLine(log, loadedLine), digest) {
				return false, nil
			}
		}
		return true, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the routers have not loaded the new routes within %s: see their logs", patience)
	}
	return err
}
