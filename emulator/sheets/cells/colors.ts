import { isJsonObject, type Json, type JsonObject } from '../model.ts'

/** Google keeps 8 bits a channel, shows them as 32-bit floats and leaves out zeros. */
export function storedColor(color: JsonObject): JsonObject {
  const stored: JsonObject = {}
  for (const channel of ['red', 'green', 'blue', 'alpha']) {
    const value = color[channel]
    if (typeof value !== 'number') continue
    const shown = shortestFloat(Math.floor(value * 255 + 1e-6) / 255)
    if (shown !== 0) stored[channel] = shown
  }
  return stored
}

function shortestFloat(value: number): number {
  for (let digits = 1; digits < 17; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === Math.fround(value)) return short
  }
  return value
}

/** Each color has an older member (…Color) and a newer one (…ColorStyle): setting one sets both. */
export function withBothColors(given: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [key, value] of Object.entries(given)) {
    if (key.endsWith('ColorStyle')) Object.assign(result, fromStyle(key, value))
    else if (key === 'color' || key.endsWith('Color')) Object.assign(result, fromColor(key, value, given))
    else result[key] = isJsonObject(value) ? withBothColors(value) : value
  }
  return result
}

function fromStyle(key: string, style: Json): JsonObject {
  if (!isJsonObject(style)) return {}
  if (!isJsonObject(style.rgbColor)) return style.themeColor === undefined ? {} : { [key]: style }
  const color = storedColor(style.rgbColor)
  return { [key.slice(0, -'Style'.length)]: color, [key]: { rgbColor: color } }
}

function fromColor(key: string, value: Json, siblings: JsonObject): JsonObject {
  if (!isJsonObject(value) || siblings[`${key}Style`] !== undefined) return {}
  const color = storedColor(value)
  return { [key]: color, [`${key}Style`]: { rgbColor: color } }
}
