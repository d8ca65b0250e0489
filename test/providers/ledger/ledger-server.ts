import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Change } from '../../../src/sheets/change.ts'
import type { Cell } from '../../../src/sheets/rows/grid.ts'
import { copyOf, makeChanges } from './ledger-changes.ts'

/** A remote home of sheets behind bearer tokens: rows as JSON, conditional writes, and little else. */
export interface LedgerServer {
  url: string
  /** A token of this person, and what it opens. */
  grant(person: string): string
  create(person: string, title: string, rows: readonly (readonly Cell[])[]): string
  rowsOf(id: string): Cell[][]
  /** As somebody who edits it there. */
  edit(id: string, rows: readonly (readonly Cell[])[]): void
  remove(id: string): void
  isGranted(token: string): boolean
  /** The next so many calls that change something are done, and their answers lost. */
  loseAnswers(count: number): void
  /** After so many more calls no token is good any more. */
  endAccessAfter(calls: number): void
}

interface Sheet {
  owner: string
  title: string
  rows: Cell[][]
  version: number
  fences: Map<string, 'applied' | 'void'>
}

export async function startLedgerServer(t: TestContext): Promise<LedgerServer> {
  const people = new Map<string, string>()
  const sheets = new Map<string, Sheet>()
  let answersToLose = 0
  let callsLeft = Number.POSITIVE_INFINITY
  let made = 0
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    grant(person) {
      const token = `ledger-token-${++made}-of-${person}`
      people.set(token, person)
      return token
    },
    create(person, title, rows) {
      const id = `ledger${String(++made).padStart(4, '0')}`
      sheets.set(id, { owner: person, title, rows: copyOf(rows), version: 1, fences: new Map() })
      return id
    },
    rowsOf: (id) => sheetOf(id).rows,
    edit(id, rows) {
      const sheet = sheetOf(id)
      sheet.rows = copyOf(rows)
      sheet.version++
    },
    remove: (id) => void sheets.delete(id),
    isGranted: (token) => people.has(token),
    loseAnswers(count) {
      answersToLose = count
    },
    endAccessAfter(calls) {
      callsLeft = calls
    },
  }

  function sheetOf(id: string): Sheet {
    const sheet = sheets.get(id)
    if (!sheet) throw new Error(`There is no ledger ${id}`)
    return sheet
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const path = request.url ?? ''
    if (callsLeft-- <= 0) people.clear()
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const person = people.get(token)
    const reply = (status: number, json: object) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json))
    if (person === undefined) return void reply(401, { error: 'unknown token' })
    if (path === '/me') return void reply(200, { id: `person-${person}`, name: person })
    if (path === '/revoke') {
      people.delete(token)
      return void reply(200, { revoked: true })
    }
    if (path === '/sheets') {
      const own = [...sheets].filter(([, { owner }]) => owner === person)
      return void reply(200, { sheets: own.map(([id, { title }]) => ({ id, title })) })
    }
    const [, id = '', verb] = /^\/sheets\/(\w+)(?:\/(\w+))?$/.exec(path) ?? []
    const sheet = sheets.get(id)
    if (sheet?.owner !== person) return void reply(404, { error: 'no such sheet' })
    if (verb === undefined) {
      const { title, version, rows } = sheet
      return void reply(200, { title, version, rows })
    }
    const told = verb === 'settle' ? settle(sheet, JSON.parse(body)) : apply(sheet, JSON.parse(body))
    if (answersToLose > 0) {
      answersToLose--
      return void request.socket.destroy()
    }
    reply(200, told)
  }
}

function settle({ fences }: Sheet, { fence }: { fence: string }): object {
  const known = fences.get(fence) ?? 'void'
  fences.set(fence, known)
  return { outcome: known }
}

function apply(sheet: Sheet, wish: { fence: string; version: string; changes: Change[] }): object {
  const isVoid = sheet.fences.get(wish.fence) === 'void'
  if (isVoid || String(sheet.version) !== wish.version) return { outcome: 'conflict' }
  const rows = copyOf(sheet.rows)
  const results = makeChanges(rows, wish.changes)
  Object.assign(sheet, { rows, version: sheet.version + 1 })
  sheet.fences.set(wish.fence, 'applied')
  return { outcome: 'applied', results }
}
