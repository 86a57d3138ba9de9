#include "api/volume.h"

namespace berth::api {

const VolumeSource& Volume::from() const {
  static const VolumeSource* const kEmpty = new VolumeSource;
  return source ? *source : *kEmpty;
}

}  // namespace berth::api
