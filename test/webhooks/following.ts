import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Config } from '../../src/config.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'
import type { Receiver } from './receiver.ts'

export interface Followed {
  rowport: Rowport
  slug: string
  sheetId: string
  /** Adds so many rows, one after the other. */
  addRows(count: number): Promise<void>
  /** A webhook of the sheet, which the receiver is told the secret of. */
  follow(receiver: Receiver, more?: { kinds?: string[]; columns?: string[] }): Promise<{ id: string }>
}

export async function startFollowed(t: TestContext, settings: Partial<Config> = {}): Promise<Followed> {
  const rowport = await startRowport(t, { settings: { webhookNetworks: ['127.0.0.0/8'], ...settings } })
  return followedIn(rowport, 'stock')
}

export async function followedIn(rowport: Rowport, slug: string, header = 'name,price'): Promise<Followed> {
  const sheet = await rowport.connectFile(slug, `${slug}.csv`, `${header}\n`)
  const key = await rowport.createKey()
  // The first look makes the log.
  await rowport.get(sheet.formB, bearer(key))
  let rows = 0
  return {
    rowport,
    slug,
    sheetId: sheet.id,
    async addRows(count) {
      for (let n = 0; n < count; n++) {
        const response = await fetch(rowport.url + sheet.formB, {
          method: 'POST',
          headers: bearer(key),
          body: JSON.stringify({ name: `row ${++rows}`, price: rows }),
        })
        assert.equal(response.status, 201, await response.text())
      }
    },
    async follow(receiver, { kinds = null, columns = null } = {}) {
      const account = done(await rowport.workshop.accounts.find('acme'))
      const wish = { account, sheetSlug: slug, url: receiver.url, kinds, columns }
      const { record, secret } = done(await rowport.workshop.webhooks.add(wish))
      receiver.secrets.unshift(secret)
      return record
    },
  }
}
