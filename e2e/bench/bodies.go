package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
)

// body is a request and what it is about.
type body struct {
	name      string
	operation configv1alpha1.InterpreterOperation
	data      []byte
	answer    int // the size of the function's answer
}

// workload is a Workload as it is stored: with managedFields, a status, and a pod of two containers.
const workload = `{"apiVersion":"workload.example.io/v1alpha1","kind":"Workload","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"workload.example.io/v1alpha1\",\"kind\":\"Workload\",\"metadata\":{\"annotations\":{},\"name\":\"web\",\"namespace\":\"shop\"},\"spec\":{\"replicas\":3}}\n"},"creationTimestamp":"2026-01-02T03:04:05Z","finalizers":["karmada.io/binding-controller"],"generation":4,"labels":{"app.kubernetes.io/name":"web","app.kubernetes.io/part-of":"shop","propagationpolicy.karmada.io/permanent-id":"6d7af9b2-37b9-4a3c-a41f-2f9d0b4a1b7e"},"managedFields":[{"apiVersion":"workload.example.io/v1alpha1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{}}},"f:spec":{".":{},"f:paused":{},"f:replicas":{},"f:template":{".":{},"f:metadata":{".":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{}}},"f:spec":{".":{},"f:containers":{".":{},"k:{\"name\":\"web\"}":{".":{},"f:env":{},"f:envFrom":{},"f:image":{},"f:name":{},"f:ports":{},"f:resources":{}}},"f:nodeSelector":{},"f:serviceAccountName":{},"f:tolerations":{},"f:volumes":{}}}}},"manager":"kubectl-client-side-apply","operation":"Update","time":"2026-01-02T03:04:05Z"},{"apiVersion":"workload.example.io/v1alpha1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},"f:conditions":{},"f:readyReplicas":{}}},"manager":"karmada-controller-manager","operation":"Update","subresource":"status","time":"2026-01-02T03:05:05Z"}],"name":"web","namespace":"shop","resourceVersion":"48151623","uid":"0f6ad3a2-9c2f-4d0f-8a39-5b1f0c2d7e11"},"spec":{"paused":PAUSED,"replicas":3,"template":{"metadata":{"labels":{"app.kubernetes.io/name":"web"}},"spec":{"containers":[{"args":["--port=8080","--verbose"],"env":[{"name":"MODE","value":"production"},{"name":"TOKEN","valueFrom":{"secretKeyRef":{"key":"token","name":"web-token"}}}],"envFrom":[{"configMapRef":{"name":"web-config"}}],"image":"registry.example.com/shop/web:1.2.3","name":"web","ports":[{"containerPort":8080,"name":"http","protocol":"TCP"}],"resources":{"limits":{"cpu":"1","memory":"512Mi"},"requests":{"cpu":"250m","memory":"256Mi"}},"volumeMounts":[{"mountPath":"/data","name":"data"}]},{"image":"registry.example.com/shop/log:2.0.0","name":"log","resources":{"requests":{"cpu":"50m","memory":"32Mi"}}}],"nodeSelector":{"kubernetes.io/os":"linux"},"serviceAccountName":"web","tolerations":[{"effect":"NoSchedule","key":"dedicated","operator":"Equal","value":"shop"}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"web-data"}}]}}FILL},"status":{"conditions":[{"lastTransitionTime":"2026-01-02T03:05:05Z","message":"Workload has minimum availability.","reason":"MinimumReplicasAvailable","status":"True","type":"Available"},{"lastTransitionTime":"2026-01-02T03:05:05Z","message":"ReplicaSet \"web-5d4f8c7b9\" has successfully progressed.","reason":"NewReplicaSetAvailable","status":"True","type":"Progressing"}],"readyReplicas":READY}}`

// object is the workload, filled up by so many bytes that no function knows.
func object(paused bool, ready, fill int) string {
	filling := ""
	if fill > 0 {
		entry := `{"name":"setting","value":"of some length, as settings have it"},`
		filling = `,"settings":[` + strings.Repeat(entry, fill/len(entry)) + `{}]`
	}
	return strings.NewReplacer("PAUSED", strconv.FormatBool(paused), "READY", strconv.Itoa(ready), "FILL", filling).Replace(workload)
}

// request is what Karmada sends to ask an operation of an object.
func request(operation configv1alpha1.InterpreterOperation, object, more string, replicas int) []byte {
	return fmt.Appendf(nil, `{"kind":"ResourceInterpreterContext","apiVersion":"config.karmada.io/v1alpha1","request":{"uid":"f0c59a3e-2f1b-4b44-9d0c-6f2f2a3a8b11",`+
		`"kind":{"group":"workload.example.io","version":"v1alpha1","kind":"Workload"},"name":"web","namespace":"shop","operation":%q,"object":%s%s,"replicas":%d}}`+"\n",
		operation, object, more, replicas)
}

func clusters(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"clusterName":"member%d","status":{"conditions":[{"lastTransitionTime":"2026-01-02T03:04:00Z",`+
			`"message":"Workload has minimum availability.","reason":"MinimumReplicasAvailable","status":"True","type":"Available"}],"readyReplicas":%d},"applied":true,"health":"Healthy"}`, i, 1+i%3)
	}
	return `,"aggregatedStatus":[` + strings.Join(items, ",") + "]"
}

func bodies() []*body {
	small := object(false, 3, 0)
	list := []*body{}
	add := func(name string, operation configv1alpha1.InterpreterOperation, data []byte) {
		if !json.Valid(data) {
			panic(name + " is not JSON")
		}
		list = append(list, &body{name: name, operation: operation, data: data})
	}
	for _, operation := range []configv1alpha1.InterpreterOperation{
		configv1alpha1.InterpreterOperationInterpretReplica, configv1alpha1.InterpreterOperationInterpretComponent,
		configv1alpha1.InterpreterOperationInterpretDependency, configv1alpha1.InterpreterOperationInterpretStatus,
		configv1alpha1.InterpreterOperationInterpretHealth,
	} {
		add(string(operation), operation, request(operation, small, "", 0))
	}
	add("ReviseReplica", configv1alpha1.InterpreterOperationReviseReplica, request(configv1alpha1.InterpreterOperationReviseReplica, small, "", 2))
	retain := configv1alpha1.InterpreterOperationRetain
	add("Retain", retain, request(retain, small, `,"observedObject":`+object(true, 3, 0), 0))
	aggregate := configv1alpha1.InterpreterOperationAggregateStatus
	for _, n := range []int{3, 100, 1000} {
		add(fmt.Sprintf("AggregateStatus, %d clusters", n), aggregate, request(aggregate, object(false, 1, 0), clusters(n), 0))
	}
	add("Retain, two objects of 600 KB", retain, request(retain, object(false, 3, 600_000), `,"observedObject":`+object(true, 3, 600_000), 0))
	add("Retain, two objects of 1.5 MB", retain, request(retain, object(false, 3, 1_500_000), `,"observedObject":`+object(true, 3, 1_500_000), 0))
	return list
}
