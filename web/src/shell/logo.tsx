export function Logo() {
  return (
    <span className="flex items-center gap-2 text-lg font-semibold tracking-tight">
      <img src="/icon.svg" alt="" width="26" height="26" className="size-[26px]" />
      Rowport
    </span>
  )
}
