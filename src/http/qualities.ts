/** `a;q=0.5, b` as names in lower case with their weights. Other parameters make no difference here. */
export function parseQualities(header: string): Map<string, number> {
  const qualities = new Map<string, number>()
  for (const item of header.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
    if (name === '') continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    const quality = weight === undefined ? 1 : Number(weight.slice(2))
    qualities.set(name, quality >= 0 && quality <= 1 ? quality : 0)
  }
  return qualities
}
