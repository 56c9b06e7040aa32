// Command rollout rolls out a new version of one function on Knative, a share of the objects at a time.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		os.Exit(1)
	}
}

func command() *cobra.Command {
	o := &options{}
	root := &cobra.Command{
		Use:   "rollout",
		Short: "Roll out a new version of one function on Knative",
		Long: `Roll out a new version of one function on Knative, a share of the objects at a time, while the others stay as they are.

The new version is a revision of the function's Knative Service with the tag candidate. It takes no traffic of the
Service: the router asks it, first as a shadow, whose answers are compared and not given, then for a share of the
objects. An object that the candidate answers for stays with it while the share rises. All of it is done through
kubectl, in the cluster that kubectl talks to.`,
		Example: `  image=$(KO_DOCKER_REPO=registry.example.com/interpreter bin/ko build --base-import-paths ./knative/revisereplica)
  rollout start ReviseReplica --image "$image"
  rollout shadow ReviseReplica 100
  rollout status                        # are there differences?
  rollout candidate ReviseReplica 10
  rollout promote ReviseReplica         # or: rollout back ReviseReplica`,
		SilenceUsage: true,
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&o.namespace, "namespace", "n", "interpreter", "`namespace` of the functions and the router")
	flags.StringVar(&o.configMap, "routes", "routes", "`name` of the ConfigMap with the router's routes.yaml")
	flags.StringVar(&o.path, "path", "", "`path` of the route, if there is more than one")

	var image string
	start := &cobra.Command{
		Use:     "start OPERATION --image IMAGE",
		Short:   "Make a candidate of an image, which nobody asks yet",
		Example: `  rollout start Retain --image registry.example.com/interpreter/retain@sha256:...`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd, args[0], func(r *rollout) error { return r.start(image) })
		},
	}
	start.Flags().StringVar(&image, "image", "", "`reference` of the image of the new version")
	// The flag is there, so marking it cannot fail.
	_ = start.MarkFlagRequired("image")
	root.AddCommand(start,
		&cobra.Command{
			Use:     "shadow OPERATION PERCENT",
			Short:   "Compare the candidate's answers about a share of the objects with those that are given",
			Example: `  rollout shadow Retain 100`,
			Args:    cobra.ExactArgs(2),
			RunE:    o.share(func(r *rollout, percent int) error { return r.shadow(percent) }),
		},
		&cobra.Command{
			Use:     "candidate OPERATION PERCENT",
			Short:   "Let the candidate answer for a share of the objects",
			Example: `  rollout candidate Retain 10`,
			Args:    cobra.ExactArgs(2),
			RunE:    o.share(func(r *rollout, percent int) error { return r.candidate(percent) }),
		},
		&cobra.Command{
			Use:     "promote OPERATION",
			Short:   "Make the candidate the function's version for all objects",
			Example: `  rollout promote Retain`,
			Args:    cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return o.with(cmd, args[0], (*rollout).promote)
			},
		},
		&cobra.Command{
			Use:     "back OPERATION",
			Short:   "Take the candidate back",
			Example: `  rollout back Retain`,
			Args:    cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return o.with(cmd, args[0], (*rollout).back)
			},
		},
		&cobra.Command{
			Use:     "status",
			Short:   "Show which revision of each function answers, and how the shadows do",
			Example: `  rollout status`,
			Args:    cobra.NoArgs,
			RunE:    func(cmd *cobra.Command, _ []string) error { return o.status(cmd.Context(), cmd.OutOrStdout()) },
		})
	return root
}

// with finds the function of an operation and does something with it.
func (o *options) with(cmd *cobra.Command, operation string, do func(*rollout) error) error {
	r, err := o.find(cmd.Context(), operation)
	if err != nil {
		return err
	}
	r.progress = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), "== "+format+"\n", args...) }
	return do(r)
}

// share runs what takes an operation and a share of the objects.
func (o *options) share(do func(*rollout, int) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		percent, err := strconv.Atoi(args[1])
		if err != nil || percent < 0 || percent > 100 {
			return fmt.Errorf("the share is %q: it must be a whole number from 0 to 100", args[1])
		}
		return o.with(cmd, args[0], func(r *rollout) error { return do(r, percent) })
	}
}
