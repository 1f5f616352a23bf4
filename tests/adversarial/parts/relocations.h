// Calls `each(name, slot)` for the relocations of the object that waits for the device and is not ours.
template <typename Each> static int walk(dl_phdr_info *object, Each each) {
  Dl_info own;
  dladdr(reinterpret_cast<void *>(&now), &own);
  const ElfW(Addr) base = object->dlpi_addr;
  const char *const path = object->dlpi_name;
  if (!strstr(path, ".so") || strstr(path, "vdso") || strstr(path, "libcud") ||
      base == reinterpret_cast<ElfW(Addr)>(own.dli_fbase))
    return 0;
  const ElfW(Dyn) *entry = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn) *>(base + object->dlpi_phdr[i].p_vaddr);
  ElfW(Addr) tables[2] = {}, sizes[2] = {}, symbols = 0, names = 0;
  for (; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) tables[0] = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) sizes[0] = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) tables[1] = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) sizes[1] = entry->d_un.d_val;
    if (entry->d_tag == DT_SYMTAB) symbols = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
  }
  for (int t = 0; t < 2; ++t)
    for (ElfW(Addr) at = 0; at < sizes[t]; at += sizeof(ElfW(Rela))) {
      const ElfW(Rela) &rela = *reinterpret_cast<const ElfW(Rela) *>(tables[t] + at);
      const ElfW(Sym) &symbol = reinterpret_cast<const ElfW(Sym) *>(symbols)[rela.r_info >> 32];
      each(reinterpret_cast<const char *>(names) + symbol.st_name, base + rela.r_offset);
    }
  return 0;
}
