/** Whether it worked. `from`: the button that was pressed; a modal makes everything outside of it unselectable. */
export async function copyText(text: string, from: Element): Promise<boolean> {
  // Browsers have no clipboard on plain HTTP by any name but localhost.
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Forbidden; the older way asks for no permission.
    }
  }
  return copyBySelection(text, from)
}

function copyBySelection(text: string, from: Element): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'sr-only'
  ;(from.closest('dialog') ?? document.body).append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    field.remove()
    if (focused instanceof HTMLElement) focused.focus()
  }
}
