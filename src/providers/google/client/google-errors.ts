import { type FailureFacts, ProviderFailure } from '../../../sheets/provider-failure.ts'
import { fieldsOf, listOf, parseJsonBytes, textOf } from '../../remote/json-fields.ts'
import { unreadable as remoteUnreadable } from '../../remote/remote-protocol.ts'
import type { GoogleScope } from '../oauth/google-consent.ts'
import { keyRefused } from './public-access.ts'

/** What an error body of Sheets or Drive says (docs/google.md#error-bodies). */
export interface GoogleError {
  /** Empty where there is none, as in Drive's older form. */
  status: string
  message: string
  /** The reason that ErrorInfo gives, or Drive's `errors`. */
  reason: string
  /** Which ration, where one is exceeded. */
  quotaLimit: string
  activationUrl: string
}

/** null: HTML of the front end, half an answer, or anything else that is not Google's JSON. */
export function readGoogleError(body: Uint8Array): GoogleError | null {
  const error = fieldsOf(fieldsOf(parseJsonBytes(body)).error)
  const message = textOf(error.message)
  if (message === null) return null
  const info = listOf(error.details)
    .map(fieldsOf)
    .find((detail) => textOf(detail['@type'])?.endsWith('ErrorInfo'))
  const metadata = fieldsOf(info?.metadata)
  return {
    status: textOf(error.status) ?? '',
    message,
    reason: textOf(info?.reason) ?? textOf(fieldsOf(listOf(error.errors)[0]).reason) ?? '',
    quotaLimit: textOf(metadata.quota_limit) ?? '',
    activationUrl: textOf(metadata.activationUrl) ?? '',
  }
}

export function isUnauthenticated(status: number, error: GoogleError | null): boolean {
  return status === 401 && error !== null
}

/** The owner took back what they had allowed. */
export function isScopeWithdrawn(status: number, error: GoogleError | null): boolean {
  return status === 403 && error?.reason === 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'
}

/** Whose ration Google says is used up; null when it is something else. */
export function rationExceeded(status: number, error: GoogleError | null): 'user' | 'project' | null {
  const isRate = /^(?:userRateLimitExceeded|rateLimitExceeded)$/.test(error?.reason ?? '')
  if (status !== 429 && !(status === 403 && isRate)) return null
  return error?.quotaLimit.endsWith('PerProject') ? 'project' : 'user'
}

export const unreadable = () => remoteUnreadable('Google')

/** In whose name Google was asked: what helps depends on it. */
export type Asker =
  | { by: 'owner'; scope: GoogleScope }
  | { by: 'service_account'; address: string }
  | { by: 'key' }

/** An answer that is not what was asked for, in words for the owner; never Google's HTML, never a token. */
export function failureOf(status: number, error: GoogleError | null, asker: Asker): ProviderFailure {
  if (rationExceeded(status, error)) return rationedByGoogle(asker)
  if (status >= 500) return unavailable(status, error)
  if (error === null) return unreadable()
  const cause = new Error(
    `Google returned ${status} ${error.status} ${error.reason}: ${plainText(error.message)}`,
  )
  if (asker.by === 'key' && /^API_KEY_/.test(error.reason)) return keyRefused(error.reason)
  if (status === 403) return forbidden(error, asker, cause)
  if (status === 404) return notFound(asker, cause)
  if (status === 413) return tooLarge(cause)
  const known = refusals.find(({ says }) => says.test(error.message))
  const isAboutGrid = aboutGrid.test(error.message)
  if (known) return new RefusedByGoogle(known.message, isAboutGrid, { details: known.details, cause })
  return new RefusedByGoogle('Google refused the request', isAboutGrid, {
    details: `Google says: ${plainText(error.message)}`,
    cause,
  })
}

/** Google understood the request and will not do it, or any part of it. */
export class RefusedByGoogle extends ProviderFailure {
  /** The tab has another size or name than the request takes for granted: after another look it may well go. */
  readonly isAboutGrid: boolean

  constructor(message: string, isAboutGrid: boolean, facts: FailureFacts) {
    super(message, facts)
    this.isAboutGrid = isAboutGrid
  }
}

/** Nobody has enabled the API in the project whose registration is used. */
export class ApiSwitchedOff extends ProviderFailure {}

const aboutGrid =
  /exceeds grid limits|beyond the last requested (?:row|column)|Unable to parse range|No grid with id|(?:row|column) that doesn't exist/

const refusals: readonly { says: RegExp; message: string; details: string }[] = [
  {
    says: /must not be an Office file/,
    message: 'the file is an Excel workbook on Google Drive, not a Google spreadsheet',
    details:
      'Open it in Google Sheets, choose File > Save as Google Sheets, and connect the spreadsheet that this makes.',
  },
  {
    says: /^(?:Invalid [^:]*: )?No grid with id|^Unable to parse range/,
    message: 'the tab no longer exists',
    details: 'It was deleted from the spreadsheet. Connect another tab; a renamed tab keeps working.',
  },
  {
    says: /protected cell or object/,
    message: 'the cells are protected',
    details:
      'The owner of the spreadsheet must remove the protection, or allow the connected account to edit.',
  },
  {
    says: /above the limit of \d+ cells/,
    message: 'the spreadsheet is full',
    details:
      'Google allows ten million cells, empty ones included. Delete rows, columns or tabs that are not used.',
  },
  {
    says: /violates the data validation rules/,
    message: 'a value breaks a rule that the owner set for its cell',
    details: 'The spreadsheet checks what is entered there (Data > Data validation).',
  },
  {
    says: /more than the maximum of 50000 characters/,
    message: 'a cell is too long for Google',
    details: 'Google allows 50,000 characters in one cell.',
  },
]

function forbidden(error: GoogleError, asker: Asker, cause: Error): ProviderFailure {
  if (error.reason === 'SERVICE_DISABLED' || error.reason === 'accessNotConfigured') {
    const page = consolePage(error.activationUrl)
    return new ApiSwitchedOff('a Google API is switched off for this server', {
      details:
        asker.by === 'service_account'
          ? `Enable the Google Sheets API in the project of the service account${page}.`
          : asker.by === 'key'
            ? `The operator must enable the Google Sheets API in the project of the API key${page}.`
            : `The operator must enable the Google Sheets API and the Google Drive API in the project of the client id${page}.`,
      cause,
    })
  }
  if (asker.by === 'service_account')
    return new ProviderFailure('the spreadsheet is not shared with the service account', {
      details: `Share it with ${asker.address} (Share, then “Editor”, or “Viewer” to let it only read).`,
      cause,
    })
  if (asker.by === 'key')
    return new ProviderFailure('the spreadsheet is not open to everybody with the link', {
      details:
        'Its owner can share it so (Share, General access, “Anyone with the link”, “Viewer”), or connect it by a Google account.',
      cause,
    })
  return new ProviderFailure("the connected Google account can't open the spreadsheet", {
    details:
      asker.scope === 'drive.file'
        ? 'Share it with the connected account, and select it for Rowport in Google: Rowport can’t open anything else.'
        : 'Share it with the connected account, or connect the account that it belongs to.',
    cause,
  })
}

/** The address, if it is a page of Google's own console: the text comes from outside. */
function consolePage(url: string): string {
  return /^https:\/\/console\.(?:developers|cloud)\.google\.com\/[\w./?=&-]{1,200}$/.test(url)
    ? `: ${url}`
    : ''
}

function notFound(asker: Asker, cause: Error): ProviderFailure {
  return new ProviderFailure('the spreadsheet was not found in Google', {
    details:
      asker.by === 'owner' && asker.scope === 'drive.file'
        ? 'It was not chosen for Rowport, it was deleted, or it is a document of another kind. Its owner can select it in the dashboard: Connect a sheet, then “Select spreadsheets in Google”.'
        : 'It was deleted, or it is a document of another kind.',
    cause,
  })
}

export function tooLarge(cause: unknown): ProviderFailure {
  return new ProviderFailure('the spreadsheet is too large to read', {
    details: 'Delete rows, columns or long texts that are not needed, or move them to another spreadsheet.',
    cause,
  })
}

function rationedByGoogle({ by }: Asker): ProviderFailure {
  const whose = by === 'key' ? "this server's API key" : 'this owner'
  return new ProviderFailure(`Google's quota for ${whose} is used up`, {
    isPassing: true,
    retryAfterSeconds: 30,
    details: 'Google counts requests by the minute, those of other programs of the same project included.',
  })
}

function unavailable(status: number, error: GoogleError | null): ProviderFailure {
  return new ProviderFailure('Google is not available at the moment', {
    isPassing: true,
    retryAfterSeconds: 5,
    cause: new Error(`Google returned ${status} ${plainText(error?.message ?? '')}`.trim()),
  })
}

const maxQuotedChars = 200
const tokens = /ya29\.[\w.-]+|1(?:\/|%2F){2}[\w-]+|GOCSPX-[\w-]+|\b4\/0A[\w-]+/gi

/** Somebody else's text, fit to be quoted. */
export function plainText(text: string): string {
  // Cut first: the expressions below must not run over megabytes.
  const start = text.slice(0, 2 * maxQuotedChars)
  if (/<[a-z!/]/i.test(start)) return '(no words)'
  const plain = start
    .replace(tokens, '[secret]')
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim()
  return plain.length > maxQuotedChars ? `${plain.slice(0, maxQuotedChars)}…` : plain
}
