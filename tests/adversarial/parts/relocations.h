// Calls `each(name, slot)` for the relocations of a loaded object; the kernel's own has none that count.
template <typename Each> static void walk(dl_phdr_info *object, Each each) {
  if (!strstr(object->dlpi_name, ".so") || strstr(object->dlpi_name, "vdso")) return;
  const ElfW(Addr) base = object->dlpi_addr;
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
}
