package subscription
import ("testing";"time";"net/http"
"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
"github.com/crossplane-contrib/provider-apiplatform/internal/emulator")
func TestZZ(t *testing.T){
	w := newWorld(t, emulator.InPlace, subscription("s", generated, annotated(v1alpha1.AnnotationRotateToken, "1")))
	w.settle("s")
	t.Logf("%+v", w.stored("s").Status.AtProvider)
	w.deleteByHand("uid-s")
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
	for range 4 {
	cr, err := w.pass("s")
	w.wait(time.Minute)
	t.Logf("%v %+v", err, cr.Status.AtProvider)
	}
	t.Log(w.Requests(emulator.Match{Writes:true}), w.events.all)
}
