import type { GoogleScope } from '../../../config.ts'

export type { GoogleScope }

export const scopeUrl = (scope: string) => `https://www.googleapis.com/auth/${scope}`

/**
 * What the consent page is asked for. `trigger_onepick` opens Google's file picker on the way: what is picked there is
 * what drive.file reaches, besides former picks. Google takes it with this one scope alone, former grants included.
 * developers.google.com/workspace/drive/picker/guides/desktop-mobile-picker
 */
export const consentWishes: Record<GoogleScope, Record<string, string>> = {
  'drive.file': {
    scope: scopeUrl('drive.file'),
    include_granted_scopes: 'false',
    trigger_onepick: 'true',
    allow_multiple: 'true',
    mimetypes: 'application/vnd.google-apps.spreadsheet',
  },
  spreadsheets: { scope: `openid email ${scopeUrl('spreadsheets')}`, include_granted_scopes: 'true' },
}

/** Upper bound on what was chosen on the way: as many as are listed at once; all the others are found by their names. */
const mostPickedIds = 100

/** `picked_file_ids` as the browser brings them back: anybody may have written them, so they open nothing. */
export function pickedIdsIn(text: string | null): string[] {
  const ids = (text ?? '').split(',').map((id) => id.trim())
  return [...new Set(ids)].filter((id) => /^[\w-]{10,128}$/.test(id)).slice(0, mostPickedIds)
}
