import type { z } from 'zod'
import type { Emulation } from '../emulation.ts'
import { anyClient } from '../oauth/token-endpoint.ts'
import {
  apiKeyInput,
  clientInput,
  clockInput,
  editInput,
  pickInput,
  protectInput,
  scopesInput,
  serviceAccountInput,
  settingsInput,
  shareInput,
  spreadsheetInput,
  tokenInput,
} from './control-input.ts'
import { faultInput } from './fault-input.ts'

export interface ControlReply {
  status: number
  body: unknown
}

export interface ControlRequest {
  /** The parts of the path that its pattern leaves open, decoded. */
  open: string[]
  query: URLSearchParams
  body: unknown
  /** Where the caller found us. */
  origin: string
}

type ControlRoute = (emulation: Emulation, request: ControlRequest) => ControlReply

const ok = (body: unknown = {}): ControlReply => ({ status: 200, body })
export const refused = (message: string, status = 400): ControlReply => ({ status, body: { error: message } })

/** What the world cannot do it throws, with a sentence. */
function attempt(act: () => unknown): ControlReply {
  try {
    return ok(act())
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error))
  }
}

/** Checks the body, says clearly what is wrong with it, or hands it on. */
function taking<Schema extends z.ZodType>(
  schema: Schema,
  act: (emulation: Emulation, input: z.output<Schema>, open: string[], origin: string) => ControlReply,
): ControlRoute {
  return (emulation, { open, body, origin }) => {
    const read = schema.safeParse(body ?? {})
    if (read.success) return act(emulation, read.data, open, origin)
    const problems = read.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`)
    return refused(problems.join('; '))
  }
}

const issueTokens = taking(tokenInput, ({ oauth }, { user, scopes, clientId = anyClient }) => {
  const holder = { clientId, user: oauth.accounts.get(user).email, scopes: [...scopes] }
  const access = oauth.grants.issueAccessToken({ ...holder, offline: true })
  const refresh = oauth.grants.issueRefreshToken(holder)
  return ok({
    access_token: access.value,
    refresh_token: refresh.value,
    expires_in: oauth.grants.expiresInSeconds(access),
    scope: scopes.join(' '),
    token_type: 'Bearer',
  })
})

const createSpreadsheet = taking(spreadsheetInput, (emulation, { title, owner, tabs, pickedBy }) => {
  const users = pickedBy === true ? [owner] : pickedBy === false ? [] : pickedBy
  return ok(
    emulation.world.createSpreadsheet({
      title,
      owner: email(emulation, owner),
      tabs,
      pickedBy: users.map((user) => email(emulation, user)),
    }),
  )
})

const protect = taking(protectInput, (emulation, { editors, ...protection }) =>
  attempt(() =>
    emulation.world.protect({ ...protection, editors: editors.map((user) => email(emulation, user)) }),
  ),
)

const pick = taking(pickInput, (emulation, { user, spreadsheetId }) =>
  attempt(() => emulation.world.pick(email(emulation, user), spreadsheetId)),
)

const share = taking(shareInput, (emulation, { spreadsheetId, with: whom, role }) =>
  attempt(() => emulation.world.share(spreadsheetId, whom, role)),
)

const createServiceAccountKey = taking(serviceAccountInput, ({ oauth }, { name, project }, _open, origin) =>
  ok(oauth.serviceAccounts.createKey(name, project, origin)),
)

const dumpSpreadsheet: ControlRoute = ({ world }, { open: [id = ''] }) => {
  const dump = world.dump(id)
  return dump === undefined ? refused(`no spreadsheet ${id}`, 404) : ok(dump)
}

const editAsHuman = taking(editInput, ({ world, edits }, input) => {
  const { beforeCall: nth, rate, seed, match = {}, ...edit } = input
  if (nth !== undefined && rate !== undefined) return refused('beforeCall or rate, not both')
  if (nth === undefined && rate === undefined) return attempt(() => world.edit(edit))
  if (nth !== undefined) edits.schedule(nth, match, () => world.edit(edit))
  if (rate !== undefined) edits.repeat({ rate, seed }, match, () => world.edit(edit))
  return ok({ scheduled: true })
})

const listCalls: ControlRoute = ({ calls }, { query }) => {
  const since = query.get('since')
  const listed = since === null ? calls.all() : calls.since(since)
  return listed ? ok({ calls: listed }) : refused('since: the number of a call, or an ISO time')
}

const changeSettings = taking(settingsInput, ({ settings, oauth }, input) => {
  const { latencyMs, disabledServices, strictValidation, autoConsent } = input
  if (latencyMs) settings.latencyMs = latencyMs
  if ('quotas' in input) settings.quotas = input.quotas
  if (strictValidation !== undefined) settings.strictValidation = strictValidation
  if (disabledServices) settings.disabledServices = disabledServices
  if (autoConsent !== undefined) {
    settings.autoConsent = autoConsent === true ? {} : autoConsent === false ? undefined : autoConsent
    oauth.autoConsent = settings.autoConsent
  }
  return ok({ ...settings, quotas: settings.quotas ?? null, autoConsent: settings.autoConsent ?? null })
})

const describeFaults: ControlRoute = ({ faults }) =>
  ok({
    faults: faults
      .list()
      .map(({ match, ...fault }) => ({ ...fault, match: { ...match, path: match.path?.source } })),
  })

const email = (emulation: Emulation, user = ''): string => emulation.oauth.accounts.get(user).email

export const controlRoutes: { method: string; path: RegExp; act: ControlRoute }[] = [
  { method: 'POST', path: /^tokens$/, act: issueTokens },
  { method: 'POST', path: /^spreadsheets$/, act: createSpreadsheet },
  { method: 'GET', path: /^spreadsheets\/([^/]+)$/, act: dumpSpreadsheet },
  { method: 'POST', path: /^protect$/, act: protect },
  { method: 'POST', path: /^pick$/, act: pick },
  { method: 'POST', path: /^share$/, act: share },
  { method: 'POST', path: /^service-accounts$/, act: createServiceAccountKey },
  {
    method: 'DELETE',
    path: /^service-accounts\/([^/]+)$/,
    act: ({ oauth }, { open: [address = ''] }) => ok({ deleted: oauth.serviceAccounts.delete(address) }),
  },
  {
    method: 'DELETE',
    path: /^service-accounts\/([^/]+)\/keys$/,
    act: ({ oauth }, { open: [address = ''] }) => ok({ deleted: oauth.serviceAccounts.deleteKeys(address) }),
  },
  {
    method: 'POST',
    path: /^api-keys$/,
    act: taking(apiKeyInput, ({ oauth }, { key }) => ok(oauth.apiKeys.configure(key))),
  },
  { method: 'POST', path: /^edit$/, act: editAsHuman },
  { method: 'DELETE', path: /^edit$/, act: ({ edits }) => ok(edits.clear()) },
  {
    method: 'POST',
    path: /^faults$/,
    act: taking(faultInput, ({ faults }, fault) => attempt(() => faults.add(fault))),
  },
  { method: 'GET', path: /^faults$/, act: describeFaults },
  { method: 'DELETE', path: /^faults$/, act: ({ faults }) => ok(faults.clear()) },
  { method: 'POST', path: /^settings$/, act: changeSettings },
  { method: 'GET', path: /^calls$/, act: listCalls },
  {
    method: 'POST',
    path: /^grants\/([^/]+)\/revoke$/,
    act: (emulation, { open: [user] }) =>
      ok({ revoked: emulation.oauth.grants.revoke(email(emulation, user)) }),
  },
  {
    method: 'POST',
    path: /^grants\/([^/]+)\/expire$/,
    act: (emulation, { open: [user] }) =>
      ok({ expired: emulation.oauth.grants.expireAccessTokens(email(emulation, user)) }),
  },
  {
    method: 'POST',
    path: /^grants\/([^/]+)\/scopes$/,
    act: taking(scopesInput, (emulation, { scopes }, [user]) =>
      ok({ changed: emulation.oauth.grants.keepOnlyScopes(email(emulation, user), scopes) }),
    ),
  },
  {
    method: 'POST',
    path: /^clients$/,
    act: taking(clientInput, ({ oauth }, client) => ok(oauth.clients.configure(client))),
  },
  {
    method: 'POST',
    path: /^clock$/,
    act: taking(clockInput, (emulation, { advanceMs }) => {
      emulation.advanceMs(advanceMs)
      return ok({ now: new Date(emulation.nowMs()).toISOString() })
    }),
  },
]
