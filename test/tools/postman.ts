import { tool } from './install-tools.ts'
import type { SheetOfKind } from './sheet-kinds.ts'

/** What Postman makes of a description, sent as it was imported, by its own runner. */
export async function runPostmanCollections(key: { value: string }, sheets: readonly SheetOfKind[]) {
  const converter = (await tool('openapi-to-postmanv2')).default
  const newman = (await tool('newman')).default
  const told = { collections: 0, requests: 0, problems: [] as string[] }
  for (const { kind, documentText } of sheets) {
    const collection = await new Promise<object>((resolve, reject) => {
      const input = { type: 'string', data: documentText }
      converter.convertV2(
        input,
        { parametersResolution: 'Example' },
        (error: Error | null, made: Converted) => {
          if (error || !made.result) reject(error ?? new Error(`${kind}: ${made.reason}`))
          else resolve(made.output[0]?.data ?? {})
        },
      )
    })
    told.collections++
    await new Promise<void>((resolve, reject) => {
      const wish = { collection, envVar: [{ key: 'bearerToken', value: key.value }], reporters: [] }
      const run = newman.run(wish, (error: Error | null) => (error ? reject(error) : resolve()))
      run.on('request', (error: Error | null, { request, response }: Sent) => {
        told.requests++
        const where = `${kind}: ${request.method} ${request.url.toString()}`
        if (error || !response || response.code >= 400)
          told.problems.push(
            `${where}: ${error?.message ?? `${response?.code} ${response?.text()}`}`.slice(0, 600),
          )
        if (request.url.toString().includes(key.value))
          told.problems.push(`${where}: the key is in the address`)
      })
    })
  }
  return told
}

interface Converted {
  result: boolean
  reason?: string
  output: { data: object }[]
}

interface Sent {
  request: { method: string; url: { toString(): string } }
  response?: { code: number; text(): string }
}
