import type { Logged } from '../sheets/sheet-log.ts'

/** A place in the log of a sheet, as clients hold it: opaque to them. */
export function cursorText({ epoch, seq }: Logged): string {
  return `${epoch}-${seq}`
}

/** null where it is none. */
export function readCursor(text: string): Logged | null {
  const found = /^([0-9A-Za-z]{8})-(0|[1-9][0-9]{0,14})$/.exec(text)
  return found ? { epoch: found[1] ?? '', seq: Number(found[2]) } : null
}
