// Whether an object is neither of CUDA nor the one that this is compiled into: such a one waits for the device.
static bool is_not_ours(dl_phdr_info *object) {
  Dl_info own;
  dladdr(reinterpret_cast<void *>(&is_not_ours), &own);
  return !strstr(object->dlpi_name, "libcud") && object->dlpi_addr != reinterpret_cast<ElfW(Addr)>(own.dli_fbase);
}
