import { randomInt } from 'node:crypto'
import { randomBase62 } from '../../random-base62.ts'
import { fieldsOf, textOf } from './json-fields.ts'

/**
 * A mark that a batch leaves in the spreadsheet. Google refuses a second one of the same id, and with it the whole
 * batch: so a batch that may have been lost on its way can be made impossible by leaving its mark first.
 */
export interface Marker {
  /** Unique in the spreadsheet; ours to choose. */
  id: number
  /** Also says when it was made, so that whoever finds an old one can clear it away. */
  text: string
}

export const markerKey = 'rowport'
/** Not secret: whoever sees it knows that Rowport wrote here, and when. Short, because Google counts characters. */
const textShape = /^([0-9a-z]{1,8})-[0-9A-Za-z]{10}(!?)$/
const highestId = 2 ** 31 - 1
/** Instead of the batch, to keep it out. */
const voidSign = '!'

export function newMarker(nowMs: number): Marker {
  const text = `${Math.floor(nowMs / 1_000).toString(36)}-${randomBase62(10)}`
  return { id: randomInt(1, highestId), text }
}

export function fenceOf({ id, text }: Marker): string {
  return `${id} ${text}`
}

export function readFence(fence: string): Marker {
  const [id = '', text = ''] = fence.split(' ')
  return { id: Number(id), text }
}

/** What a batch leaves, or what is left in its stead. */
export function createMarkerRequest({ id, text }: Marker, as: 'done' | 'void'): object {
  return {
    createDeveloperMetadata: {
      developerMetadata: {
        metadataId: id,
        metadataKey: markerKey,
        metadataValue: as === 'done' ? text : text + voidSign,
        location: { spreadsheet: true },
        // Not PROJECT: after a change of the client id, we would neither find our own nor be able to make another.
        visibility: 'DOCUMENT',
      },
    },
  }
}

export function deleteMarkerRequest(id: number): object {
  return { deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: { metadataId: id } } } }
}

/** 'foreign': somebody else's metadata has the id. */
export function readMarkerAs(metadata: unknown, { text }: Marker): 'done' | 'void' | 'foreign' {
  const { metadataKey, metadataValue } = fieldsOf(metadata)
  if (metadataKey !== markerKey) return 'foreign'
  if (metadataValue === text) return 'done'
  return metadataValue === text + voidSign ? 'void' : 'foreign'
}

/** Any of ours, with the time it was made. */
export function readOldMarker(metadata: unknown): { id: number; madeAtMs: number } | null {
  const { metadataId, metadataKey, metadataValue } = fieldsOf(metadata)
  const [, seconds] = textShape.exec(textOf(metadataValue) ?? '') ?? []
  if (metadataKey !== markerKey || typeof metadataId !== 'number' || seconds === undefined) return null
  return { id: metadataId, madeAtMs: Number.parseInt(seconds, 36) * 1_000 }
}
