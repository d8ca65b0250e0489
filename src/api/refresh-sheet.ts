import { cursorText } from '../changes/cursor.ts'
import { Refusal } from '../errors.ts'
import { isIgnored } from './request/parameter-name.ts'
import { type ApiParts, admitRows, type RowsRequest } from './request/rows-request.ts'
import { type Reply, writeHeaders } from './response/reply.ts'

/**
 * `POST …/refresh`: admit → look at the spreadsheet → say where the log stands. Any key will do, since a read with `no-cache` looks as
 * well; but somebody's key, because it costs what the owner is allowed at the provider.
 */
export async function refreshSheet(asked: RowsRequest, parts: ApiParts): Promise<Reply | Refusal> {
  const pass = await admitRows(asked, parts, { intent: 'read', pageRight: 'never' })
  if (pass instanceof Refusal) return pass
  if (pass.key === null) return new Refusal('api_key_required')
  const unknown = pass.parameters.find(([name]) => name !== 'api_key' && !isIgnored(name))
  if (unknown) return new Refusal('invalid_query', { details: `"${unknown[0]}" means nothing here.` })
  const { sheet } = pass
  if (sheet.needsReconnect) return new Refusal('token_expired')
  const isLooked = (await parts.looking.refresh(sheet)) === 'looked'
  const position = await parts.changes.positionOf(sheet.id)
  const cursor = position?.epoch ? cursorText({ epoch: position.epoch, seq: position.head }) : null
  const message = isLooked
    ? 'The spreadsheet was looked at.'
    : 'Reads at the provider are scarce. The spreadsheet will be looked at in its turn.'
  const body =
    asked.address.form === 'a'
      ? { success: true, message, looked: isLooked, cursor }
      : { data: { looked: isLooked }, meta: { cursor } }
  return {
    status: isLooked ? 200 : 202,
    base: writeHeaders,
    headers: cursor === null ? [] : ['X-Change-Cursor', cursor],
    body: JSON.stringify(body),
  }
}
