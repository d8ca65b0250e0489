/** Where Google is. */
export interface GoogleEndpoints {
  /** The page on which a person consents. */
  consentPage: string
  token: string
  revoke: string
  userInfo: string
  /** `${sheets}/{spreadsheetId}…` */
  sheets: string
  /** `${drive}/files…` */
  drive: string
}

/** `root` (GOOGLE_ENDPOINT) has all of Google's hosts under one, as the emulator does; null is Google itself. */
export function googleEndpoints(root: string | null): GoogleEndpoints {
  const at = (host: string) => root?.replace(/\/+$/, '') ?? `https://${host}`
  return {
    consentPage: `${at('accounts.google.com')}/o/oauth2/v2/auth`,
    token: `${at('oauth2.googleapis.com')}/token`,
    revoke: `${at('oauth2.googleapis.com')}/revoke`,
    userInfo: `${at('openidconnect.googleapis.com')}/v1/userinfo`,
    sheets: `${at('sheets.googleapis.com')}/v4/spreadsheets`,
    drive: `${at('www.googleapis.com')}/drive/v3`,
  }
}
