import type { Kysely, Selectable } from 'kysely'
import type { Clock } from '../../clock.ts'
import { countOfAccount, holdRoom } from '../accounts/room-in-account.ts'
import { newId } from '../new-id.ts'
import type { FormEntryTable, FormTable, Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { FormRecord, FormSettings, FormStore, HeldEntry } from './forms.ts'

export function createFormQueries({ kysely }: SqlDatabase, clock: Clock): FormStore {
  return {
    async createForm(form, mostOfAccount = null) {
      const { id = newId('form'), accountId, sheetId, name, settings, captchaSecret = null } = form
      const row = {
        id,
        account_id: accountId,
        sheet_id: sheetId,
        name,
        settings: JSON.stringify(settings),
        is_open: 1,
        created_at_ms: clock.nowMs(),
        ...secretColumns(captchaSecret),
      }
      return kysely.transaction().execute(async (transaction) => {
        await holdRoom(transaction, accountId, mostOfAccount, () =>
          countOfAccount(transaction, 'form', accountId),
        )
        return toForm(
          await transaction.insertInto('form').values(row).returningAll().executeTakeFirstOrThrow(),
        )
      })
    },
    async findForm(formId) {
      const row = await kysely.selectFrom('form').where('id', '=', formId).selectAll().executeTakeFirst()
      return row ? toForm(row) : null
    },
    async formsOf(accountId) {
      const forms = kysely.selectFrom('form').where('account_id', '=', accountId)
      return (await forms.orderBy('created_at_ms').orderBy('id').selectAll().execute()).map(toForm)
    },
    async changeForm(formId, { name, settings, captchaSecret }) {
      const secret = captchaSecret === undefined ? {} : secretColumns(captchaSecret)
      const change = { name, settings: JSON.stringify(settings), ...secret }
      await kysely.updateTable('form').set(change).where('id', '=', formId).execute()
    },
    async setFormOpen(formId, isOpen) {
      const is_open = isOpen ? 1 : 0
      await kysely.updateTable('form').set({ is_open }).where('id', '=', formId).execute()
    },
    async deleteForm(formId) {
      return kysely.transaction().execute(async (transaction) => {
        const held = await transaction
          .selectFrom('form_entry')
          .where('form_id', '=', formId)
          .select('id')
          .execute()
        await deleteFormsOn(transaction, [formId])
        return held.length
      })
    },
    async holdEntry({ formId, name: { name, former }, reason, row }, mostOfForm) {
      return kysely.transaction().execute(async (transaction) => {
        // A write that changes nothing: it holds the form, so that it is counted once and not deleted meanwhile.
        const form = await transaction
          .updateTable('form')
          .set((of) => ({ name: of.ref('name') }))
          .where('id', '=', formId)
          .returning('id')
          .executeTakeFirst()
        const known = await transaction
          .selectFrom('form_entry')
          .where('form_id', '=', formId)
          .where((of) =>
            of.or([
              of('name', '=', name),
              ...(former
                ? [
                    of.and([
                      of('name', '=', former.name),
                      of('received_at_ms', '>', clock.nowMs() - former.forMs),
                    ]),
                  ]
                : []),
            ]),
          )
          .select('id')
          .executeTakeFirst()
        if (known) return true
        const { held, characters } = await transaction
          .selectFrom('form_entry')
          .where('form_id', '=', formId)
          .select((of) => [
            of.fn.countAll().as('held'),
            of.fn.sum(of.fn<number>('length', ['row'])).as('characters'),
          ])
          .executeTakeFirstOrThrow()
        if (!form || Number(held) >= mostOfForm.entries) return false
        const text = JSON.stringify(row)
        if (Number(characters) + text.length > mostOfForm.characters) return false
        const entry = {
          id: newId('entry'),
          form_id: formId,
          name,
          reason,
          row: text,
          received_at_ms: clock.nowMs(),
        }
        await transaction
          .insertInto('form_entry')
          .values({ ...entry, is_released: 0 })
          .execute()
        return true
      })
    },
    async heldEntries(formId) {
      const held = kysely.selectFrom('form_entry').where('form_id', '=', formId)
      return (await held.orderBy('received_at_ms').orderBy('id').selectAll().execute()).map(toEntry)
    },
    async heldCounts(accountId) {
      const rows = await kysely
        .selectFrom('form_entry')
        .innerJoin('form', 'form.id', 'form_entry.form_id')
        .where('form.account_id', '=', accountId)
        .where('form_entry.is_released', '=', 0)
        .groupBy('form.id')
        .select((of) => ['form.id', of.fn.countAll<number | string>().as('held')])
        .execute()
      return new Map(rows.map(({ id, held }) => [id, Number(held)]))
    },
    async findEntry(entryId) {
      const entry = kysely.selectFrom('form_entry').where('id', '=', entryId).selectAll()
      const row = await entry.executeTakeFirst()
      return row ? toEntry(row) : null
    },
    async releaseEntry(entryId) {
      await kysely.updateTable('form_entry').set({ is_released: 1 }).where('id', '=', entryId).execute()
    },
    async releaseEntries(formId) {
      const held = kysely.updateTable('form_entry').set({ is_released: 1 }).where('form_id', '=', formId)
      return (await held.where('is_released', '=', 0).returning('id').execute()).length
    },
    async holdReleasedAgain(entryId, reason) {
      const again = { id: newId('entry'), is_released: 0, reason }
      await kysely.updateTable('form_entry').set(again).where('id', '=', entryId).execute()
    },
    async deleteEntry(entryId) {
      await kysely.deleteFrom('form_entry').where('id', '=', entryId).execute()
    },
    async releasedEntries(most, exceptForms) {
      const released = kysely.selectFrom('form_entry').where('is_released', '=', 1)
      const others = exceptForms.length === 0 ? released : released.where('form_id', 'not in', exceptForms)
      const rows = await others.orderBy('received_at_ms').orderBy('id').limit(most).selectAll().execute()
      return rows.map(toEntry)
    },
    async formsNotUnderKey(keyId) {
      const sealed = kysely.selectFrom('form').where('captcha_key_id', '!=', keyId)
      return (await sealed.orderBy('id').selectAll().execute()).map(toForm)
    },
    async resealForm({ id, captchaSecret }, secret) {
      if (!captchaSecret) return
      const form = kysely.updateTable('form').set(secretColumns(secret)).where('id', '=', id)
      await form.where('captcha_sealed_secret', '=', captchaSecret.sealed).execute()
    },
  }
}

function secretColumns(secret: FormRecord['captchaSecret']) {
  return { captcha_sealed_secret: secret?.sealed ?? null, captcha_key_id: secret?.keyId ?? null }
}

/** With all that is held of them. */
export async function deleteFormsOn(
  on: Pick<Kysely<Tables>, 'deleteFrom'>,
  formIds: readonly string[],
): Promise<void> {
  if (formIds.length === 0) return
  await on.deleteFrom('form_entry').where('form_id', 'in', formIds).execute()
  await on.deleteFrom('form').where('id', 'in', formIds).execute()
}

function toForm(row: Selectable<FormTable>): FormRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    sheetId: row.sheet_id,
    name: row.name,
    settings: settingsIn(row.settings),
    isOpen: row.is_open === 1,
    createdAtMs: row.created_at_ms,
    captchaSecret:
      row.captcha_sealed_secret === null || row.captcha_key_id === null
        ? null
        : { sealed: row.captcha_sealed_secret, keyId: row.captcha_key_id },
  }
}

/** Those that were made before there was all of it say nothing of the rest. */
function settingsIn(text: string): FormSettings {
  const settings = JSON.parse(text) as FormSettings
  const fields = settings.fields.map((field) => ({ ...field, help: field.help ?? '' }))
  return { ...{ intro: '', thanks: '', origins: [], captcha: null }, ...settings, fields }
}

function toEntry(row: Selectable<FormEntryTable>): HeldEntry {
  return {
    id: row.id,
    formId: row.form_id,
    name: row.name,
    reason: row.reason,
    row: JSON.parse(row.row) as HeldEntry['row'],
    isReleased: row.is_released === 1,
    receivedAtMs: row.received_at_ms,
  }
}
