package interpreter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Refuse answers with an error in the form that Karmada shows: if body has a request with a uid, as a response to it
// (HTTP 200, successful: false, and the error's code and message in its status), else as a metav1.Status under the
// error's HTTP code. For the code of an error see the package's documentation.
func Refuse(w http.ResponseWriter, body []byte, err error) {
	refuse(w, uidOf(body), err)
}

func refuse(w http.ResponseWriter, uid types.UID, err error) {
	status := statusOf(err)
	if uid != "" {
		respond(w, &response{
			UID:    uid,
			Status: &configv1alpha1.RequestStatus{Code: status.Code, Message: status.Message},
		})
		return
	}
	data, err := json.Marshal(status)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, int(status.Code), data)
}

func statusOf(err error) metav1.Status {
	var known apierrors.APIStatus
	switch {
	case errors.As(err, &known) && known.Status().Code >= 400:
		status := known.Status()
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		status.Message = err.Error()
		return status
	case errors.Is(err, context.DeadlineExceeded):
		return newStatus(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the function did not answer in time")
	default:
		return newStatus(http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
	}
}

func newStatus(code int32, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Code:     code,
		Reason:   reason,
		Message:  message,
	}
}

// StatusError returns an error with an HTTP code and the API's reason for it.
func StatusError(code int32, reason metav1.StatusReason, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: newStatus(code, reason, fmt.Sprintf(format, args...))}
}

// BadRequest returns an error with the code 400.
func BadRequest(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}
