import type { FoldedTexts } from './folded-texts.ts'
import { unitRank } from './text-order.ts'

/** Texts in order, as indices. */
export interface TextOrder {
  order: Uint32Array
  /** 1 where a text differs from the one before it in order. */
  isNew: Uint8Array
}

/** Texts from `from` to `to` of the order are alike in their first `depth` units. */
interface AlikeTexts {
  from: number
  to: number
  depth: number
}

/** Up to this many texts are sorted by comparing them. */
const smallGroup = 12
/** How many units behind the common beginning decide how texts are packed. */
const windowUnits = 8
/** How far a common beginning is followed in one round: without an end to it, texts made for that take forever. */
const maxCommonUnits = 64
/** What a double holds exactly. */
const exactBits = 53

/**
 * Sorts texts by code point. A comparison sort of 1,000,000 texts takes seconds in JavaScript; the
 * runtime's own sort of plain numbers takes a tenth. So the next few units of each text are packed into a number
 * together with its index, the numbers are sorted, and what is still alike goes round again with the units after.
 * Each round consumes units, so the whole is a few looks at each unit, whatever the texts are.
 */
export function sortTexts(texts: FoldedTexts): TextOrder {
  const count = texts.starts.length - 1
  const order = new Uint32Array(count)
  const isNew = new Uint8Array(count)
  if (count > 0) isNew[0] = 1
  for (let at = 0; at < count; at++) order[at] = at
  const keys = new Float64Array(count)
  const former = new Uint32Array(count)
  // Not recursion: texts that differ only after thousands of units would need as many frames.
  const open: AlikeTexts[] = [{ from: 0, to: count, depth: 0 }]
  for (let group = open.pop(); group; group = open.pop()) {
    if (group.to - group.from <= smallGroup) sortSmall(texts, order, isNew, group)
    else sortLarge(texts, order, isNew, group, keys, former, open)
  }
  return { order, isNew }
}

function sortLarge(
  texts: FoldedTexts,
  order: Uint32Array,
  isNew: Uint8Array,
  { from, to, depth }: AlikeTexts,
  keys: Float64Array,
  former: Uint32Array,
  open: AlikeTexts[],
): void {
  const start = commonLength(texts, order, from, to, depth)
  const { lowest, base } = unitRange(texts, order, from, to, start)
  if (base === 1) return
  const count = to - from
  const indexBits = Math.ceil(Math.log2(count))
  const indexSpan = 2 ** indexBits
  const units = Math.min(windowUnits, Math.floor((exactBits - indexBits) / Math.log2(base)))
  for (let at = 0; at < count; at++) {
    const text = order[from + at] ?? 0
    former[at] = text
    keys[at] = packUnits(texts, text, start, units, lowest, base) * indexSpan + at
  }
  const sorted = keys.subarray(0, count).sort()
  let alikeFrom = 0
  let alikeKey = -1
  for (let at = 0; at <= count; at++) {
    const packedKey = sorted[at] ?? 0
    const key = at === count ? -1 : Math.floor(packedKey / indexSpan)
    if (at < count) order[from + at] = former[packedKey - key * indexSpan] ?? 0
    if (key === alikeKey) continue
    if (at > 0 && at < count) isNew[from + at] = 1
    // A key that ends in 0 holds its text to the end: what shares it is equal.
    if (at - alikeFrom > 1 && alikeKey % base !== 0)
      open.push({ from: from + alikeFrom, to: from + at, depth: start + units })
    alikeFrom = at
    alikeKey = key
  }
}

function packUnits(
  { units, starts }: FoldedTexts,
  text: number,
  depth: number,
  count: number,
  lowest: number,
  base: number,
): number {
  const from = (starts[text] ?? 0) + depth
  const textEnd = (starts[text + 1] ?? 0) - 1
  let key = 0
  for (let at = from; at < from + count; at++)
    key = key * base + (at < textEnd ? unitRank(units[at] ?? 0) - lowest + 1 : 0)
  return key
}

function commonLength(
  { units, starts }: FoldedTexts,
  order: Uint32Array,
  from: number,
  to: number,
  depth: number,
): number {
  const first = starts[order[from] ?? 0] ?? 0
  let common = depth + maxCommonUnits
  for (let at = from; at < to && common > depth; at++) {
    const text = order[at] ?? 0
    const start = starts[text] ?? 0
    const length = (starts[text + 1] ?? 0) - 1 - start
    if (length < common) common = length
    let unit = depth
    while (unit < common && units[start + unit] === units[first + unit]) unit++
    common = unit
  }
  return common
}

/** Digits pack closer than letters. Base 1: no text goes on, so all are equal. */
function unitRange(
  { units, starts }: FoldedTexts,
  order: Uint32Array,
  from: number,
  to: number,
  depth: number,
) {
  let lowest = Number.MAX_SAFE_INTEGER
  let highest = -1
  for (let at = from; at < to; at++) {
    const text = order[at] ?? 0
    const start = (starts[text] ?? 0) + depth
    const end = Math.min((starts[text + 1] ?? 0) - 1, start + windowUnits)
    for (let unit = start; unit < end; unit++) {
      const rank = unitRank(units[unit] ?? 0)
      if (rank < lowest) lowest = rank
      if (rank > highest) highest = rank
    }
  }
  return { lowest, base: highest === -1 ? 1 : highest - lowest + 2 }
}

function sortSmall(
  texts: FoldedTexts,
  order: Uint32Array,
  isNew: Uint8Array,
  { from, to, depth }: AlikeTexts,
): void {
  for (let at = from + 1; at < to; at++) {
    const text = order[at] ?? 0
    let place = at
    while (place > from && compare(texts, order[place - 1] ?? 0, text, depth) > 0) {
      order[place] = order[place - 1] ?? 0
      place--
    }
    order[place] = text
  }
  for (let at = from + 1; at < to; at++)
    if (compare(texts, order[at - 1] ?? 0, order[at] ?? 0, depth) !== 0) isNew[at] = 1
}

function compare({ units, starts }: FoldedTexts, one: number, other: number, depth: number): number {
  const left = starts[one] ?? 0
  const right = starts[other] ?? 0
  const leftLength = (starts[one + 1] ?? 0) - left
  const rightLength = (starts[other + 1] ?? 0) - right
  const shorter = Math.min(leftLength, rightLength) - 1
  for (let at = depth; at < shorter; at++) {
    const difference = unitRank(units[left + at] ?? 0) - unitRank(units[right + at] ?? 0)
    if (difference !== 0) return difference
  }
  return leftLength - rightLength
}
