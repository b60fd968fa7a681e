/*
Copyright 2026 The Crossplane Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package v1alpha1

// The runtime tells in status which reconcile request it handled last, if it finds
// these methods, which are not generated.

// GetLastHandledReconcileAt of this RestApi.
func (mg *RestApi) GetLastHandledReconcileAt() string { return mg.Status.GetLastHandledReconcileAt() }

// SetLastHandledReconcileAt of this RestApi.
func (mg *RestApi) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetLastHandledReconcileAt of this SubscriptionPlan.
func (mg *SubscriptionPlan) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this SubscriptionPlan.
func (mg *SubscriptionPlan) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetLastHandledReconcileAt of this Subscription.
func (mg *Subscription) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this Subscription.
func (mg *Subscription) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}
