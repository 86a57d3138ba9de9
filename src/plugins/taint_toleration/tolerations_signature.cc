#include "plugins/taint_toleration/tolerations_signature.h"

#include "plugins/signature_text.h"

namespace berth::plugins {

void SignTolerations(const framework::PodInfo& pod, framework::SignatureBuilder& signature) {
  std::string text;
  // How long a toleration lasts after binding (tolerationSeconds) does not matter here.
  for (const api::Toleration& toleration : pod.pod().spec.tolerations) {
    AppendField(text, toleration.key.str());
    AppendField(text, toleration.op.str());
    AppendField(text, toleration.value.str());
    AppendField(text, toleration.effect.str());
  }
  signature.Add("spec.tolerations", text);
}

}  // namespace berth::plugins
