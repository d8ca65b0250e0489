const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** As people count: `bulk-2` before `bulk-10`. */
export function naturally(one: string, other: string): number {
  return collator.compare(one, other)
}
