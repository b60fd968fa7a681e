# What kubectl get -o json prints, as it can be created again: without what the API
# server fills in, and without status. Annotations stay: they say what is held at
# the gateway.
#
#   kubectl get gwsub -o json | jq -f examples/backup/without-status.jq > backup.json
def bare:
  del(.status)
  | del(.metadata["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences", "finalizers", "selfLink"]);

if .kind == "List" then {apiVersion, kind, items: [.items[] | bare]} else bare end
