/** What JSON can hold, with a Map where the order of keys matters: an object moves those that look like integers. */
export type OrderedJson =
  | string
  | number
  | boolean
  | null
  | JsonText
  | readonly OrderedJson[]
  | ReadonlyMap<string, OrderedJson>
  | { readonly [key: string]: OrderedJson | undefined }

/** What is written as JSON already. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export function orderedJsonText(value: OrderedJson): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (value instanceof JsonText) return value.text
  if (isArray(value)) return `[${value.map(orderedJsonText).join(',')}]`
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  const members = entries.flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}:${orderedJsonText(member as OrderedJson)}`],
  )
  return `{${members.join(',')}}`
}

/** `Array.isArray` does not know of readonly arrays. */
function isArray(value: object): value is readonly OrderedJson[] {
  return Array.isArray(value)
}
