package podtemplate

import (
	"cmp"
	"slices"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// Dependencies is a pod template as far as it names other objects. It stands in a function's view of a resource where
// the resource has its template, of which the rest is not decoded then.
type Dependencies struct {
	Spec struct {
		InitContainers           []environment                 `json:"initContainers"`
		Containers               []environment                 `json:"containers"`
		EphemeralContainers      []environment                 `json:"ephemeralContainers"`
		Volumes                  []corev1.Volume               `json:"volumes"`
		ImagePullSecrets         []corev1.LocalObjectReference `json:"imagePullSecrets"`
		ServiceAccountName       string                        `json:"serviceAccountName"`
		DeprecatedServiceAccount string                        `json:"serviceAccount"`
	} `json:"spec"`
}

// environment is what names objects in a container.
type environment struct {
	Env []struct {
		ValueFrom *corev1.EnvVarSource `json:"valueFrom"`
	} `json:"env"`
	EnvFrom []corev1.EnvFromSource `json:"envFrom"`
}

// References lists the ConfigMaps, Secrets, ServiceAccounts and PersistentVolumeClaims that the template names, each
// once, sorted by kind and name. They are in the namespace of the pods, which is the only one that a pod can name
// objects in. The ServiceAccount "default" is left out: every namespace has its own.
func (t *Dependencies) References(namespace string) []configv1alpha1.DependentObjectReference {
	d := dependencies{}
	spec := &t.Spec
	for _, containers := range [][]environment{spec.InitContainers, spec.Containers, spec.EphemeralContainers} {
		for _, c := range containers {
			d.container(&c)
		}
	}
	for _, v := range spec.Volumes {
		d.volume(&v.VolumeSource)
	}
	for _, s := range spec.ImagePullSecrets {
		d.add("Secret", s.Name)
	}
	if account := cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount); account != "default" {
		d.add("ServiceAccount", account)
	}
	return d.references(namespace)
}

type dependency struct{ kind, name string }

// dependencies is a set: a template names many an object more than once.
type dependencies map[dependency]struct{}

func (d dependencies) add(kind, name string) {
	if name != "" {
		d[dependency{kind, name}] = struct{}{}
	}
}

func (d dependencies) secret(ref *corev1.LocalObjectReference) {
	if ref != nil {
		d.add("Secret", ref.Name)
	}
}

func (d dependencies) container(c *environment) {
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			continue
		}
		if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil {
			d.add("ConfigMap", ref.Name)
		}
		if ref := e.ValueFrom.SecretKeyRef; ref != nil {
			d.add("Secret", ref.Name)
		}
	}
	for _, e := range c.EnvFrom {
		if e.ConfigMapRef != nil {
			d.add("ConfigMap", e.ConfigMapRef.Name)
		}
		if e.SecretRef != nil {
			d.add("Secret", e.SecretRef.Name)
		}
	}
}

func (d dependencies) volume(v *corev1.VolumeSource) {
	if v.ConfigMap != nil {
		d.add("ConfigMap", v.ConfigMap.Name)
	}
	if v.Secret != nil {
		d.add("Secret", v.Secret.SecretName)
	}
	if v.Projected != nil {
		d.projected(v.Projected.Sources)
	}
	if v.PersistentVolumeClaim != nil {
		d.add("PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName)
	}
	if v.Ephemeral != nil {
		d.claimTemplate(v.Ephemeral.VolumeClaimTemplate)
	}
	if v.CSI != nil {
		d.secret(v.CSI.NodePublishSecretRef)
	}
	if v.AzureFile != nil {
		d.add("Secret", v.AzureFile.SecretName)
	}
	if v.CephFS != nil {
		d.secret(v.CephFS.SecretRef)
	}
	if v.Cinder != nil {
		d.secret(v.Cinder.SecretRef)
	}
	if v.FlexVolume != nil {
		d.secret(v.FlexVolume.SecretRef)
	}
	if v.ISCSI != nil {
		d.secret(v.ISCSI.SecretRef)
	}
	if v.RBD != nil {
		d.secret(v.RBD.SecretRef)
	}
	if v.ScaleIO != nil {
		d.secret(v.ScaleIO.SecretRef)
	}
	if v.StorageOS != nil {
		d.secret(v.StorageOS.SecretRef)
	}
}

func (d dependencies) projected(sources []corev1.VolumeProjection) {
	for _, s := range sources {
		if s.ConfigMap != nil {
			d.add("ConfigMap", s.ConfigMap.Name)
		}
		if s.Secret != nil {
			d.add("Secret", s.Secret.Name)
		}
	}
}

// claimTemplate adds the claim that an ephemeral volume is filled from. The claim made from the template is the pod's own.
func (d dependencies) claimTemplate(template *corev1.PersistentVolumeClaimTemplate) {
	const claim = "PersistentVolumeClaim"
	if template == nil {
		return
	}
	isClaim := func(group *string, kind string) bool {
		return (group == nil || *group == "") && kind == claim
	}
	if from := template.Spec.DataSource; from != nil && isClaim(from.APIGroup, from.Kind) {
		d.add(claim, from.Name)
	}
	if from := template.Spec.DataSourceRef; from != nil && isClaim(from.APIGroup, from.Kind) && from.Namespace == nil {
		d.add(claim, from.Name)
	}
}

func (d dependencies) references(namespace string) []configv1alpha1.DependentObjectReference {
	list := make([]configv1alpha1.DependentObjectReference, 0, len(d))
	for dep := range d {
		list = append(list, configv1alpha1.DependentObjectReference{
			APIVersion: "v1", Kind: dep.kind, Namespace: namespace, Name: dep.name,
		})
	}
	slices.SortFunc(list, func(a, b configv1alpha1.DependentObjectReference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}
