import type {
  AuditEntryView,
  ConfirmInput,
  ConnectInput,
  ConnectionView,
  ConsentInput,
  ConsoleKey,
  DeliveryView,
  DisconnectedView,
  FileChoice,
  FormGuessView,
  FormView,
  FormWishInput,
  HeldEntryView,
  HistoryView,
  KeyChangeInput,
  KeyInput,
  KeyView,
  NewKeyView,
  NewWebhookView,
  OverlapSeconds,
  PasswordInput,
  PolicyView,
  PreviewView,
  PublishableKeyInput,
  RecentRequest,
  ReplayInput,
  ResetPasswordInput,
  RowsView,
  ServerView,
  SessionView,
  ShareView,
  SheetChangeInput,
  SheetSource,
  SheetSummary,
  SheetView,
  SignInInput,
  SignUpInput,
  SpreadsheetChoice,
  StartView,
  TabsView,
  UsageView,
  UsedUpSharesView,
  WebhookInput,
  WebhookView,
} from './contract.ts'

/**
 * Every verb below `/dashboard/api`, `{name}` for one segment of its path: the server's routes are these and no others, and
 * the app can ask for nothing else. `input` goes as JSON, `upload` is a file as its bytes. What ends something answers null.
 */
export interface OwnerVerbs {
  'GET /server': { answer: ServerView }
  'GET /session': { answer: SessionView }
  'POST /sign-up': { input: SignUpInput; answer: SessionView }
  'POST /sign-in': { input: SignInInput; answer: SessionView }
  'POST /sign-in-link': { input: { token: string }; answer: SessionView }
  /** Answered alike whether or not anybody has this address. */
  'POST /forgot-password': { input: { email: string }; answer: null }
  'POST /reset-password': { input: ResetPasswordInput; answer: SessionView }
  'POST /verify-email': { input: { token: string }; answer: { email: string } }
  'POST /sign-out': { answer: null }
  'POST /sign-out-everywhere': { answer: null }
  'POST /confirm': { input: ConfirmInput; answer: SessionView }
  'POST /password': { input: PasswordInput; answer: null }
  /** Sends the link once more. */
  'POST /email/verification': { answer: null }
  'POST /email': { input: { email: string }; answer: SessionView }
  'PATCH /alerts': { input: { isWanted: boolean }; answer: SessionView }

  'GET /start': { answer: StartView }
  'GET /sheets': { answer: SheetSummary[] }
  'GET /sheets/{slug}': { answer: SheetView }
  'PATCH /sheets/{slug}': { input: SheetChangeInput; answer: SheetView }
  'DELETE /sheets/{slug}': { answer: null }
  /** With the public API's own parameters. */
  'GET /sheets/{slug}/rows': { query: URLSearchParams; answer: RowsView }
  /** Reads the spreadsheet now, whatever is cached. */
  'POST /sheets/{slug}/refresh': { answer: SheetView }
  /** The newest first; as many as are kept, at most. */
  'GET /sheets/{slug}/requests': { query: { limit: string }; answer: RecentRequest[] }
  /** The newest first. `row` or `key` (JSON): of that row alone. `before`: further back. */
  'GET /sheets/{slug}/history': { query: { row: string; key: string; before: string }; answer: HistoryView }
  'POST /sheets/{slug}/console-key': { answer: ConsoleKey }

  'GET /slug-check': { query: { slug: string }; answer: { problem: string | null } }
  'POST /preview': { input: SheetSource; answer: PreviewView }
  'POST /sheets': { input: ConnectInput; answer: SheetView }

  'GET /files': { answer: FileChoice[] }
  'POST /files': { upload: true; query: { name: string }; answer: FileChoice }
  /** The bytes of another file, which takes its place; `name` in the query is what that one is called. */
  'POST /files/{name}/replace': { upload: true; query: { name: string }; answer: FileChoice }
  /** Its sheets stay connected. 409 where the name is taken. */
  'POST /files/{name}/rename': { input: { to: string }; answer: FileChoice }
  /** Its bytes, for the browser to keep. */
  'GET /files/{name}/content': { answer: never }
  /** 409 while a sheet is connected to it. */
  'DELETE /files/{name}': { answer: null }

  /*
   * Of every source with a connection, `{provider}` being its id (GET /google, POST /google/connect …). `{consentProvider}` is one
   * that is connected by consent, `{keyProvider}` one by a key.
   */
  'GET /{provider}': { answer: ConnectionView }
  'POST /{consentProvider}/connect': { input: ConsentInput; answer: { url: string } }
  'POST /{keyProvider}/key': { input: { key: string }; answer: { email: string } }
  'POST /{provider}/disconnect': { answer: DisconnectedView }
  'GET /{provider}/spreadsheets': { query: { search: string }; answer: SpreadsheetChoice[] }
  /** By the id of a spreadsheet, or by its whole address. */
  'GET /{provider}/spreadsheets/{pasted}/tabs': { answer: TabsView }

  'GET /keys': { answer: KeyView[] }
  'POST /keys': { input: KeyInput; answer: NewKeyView }
  'POST /keys/publishable': { input: PublishableKeyInput; answer: NewKeyView }
  'PATCH /keys/{id}/policy': { input: PolicyView; answer: KeyView }
  'POST /keys/{id}/revoke': { answer: null }
  'PATCH /keys/{id}': { input: KeyChangeInput; answer: KeyView }
  /** The old value ends at once. */
  'POST /keys/{id}/regenerate': { answer: NewKeyView }
  'POST /keys/{id}/rotate': { input: { overlapSeconds: OverlapSeconds }; answer: NewKeyView }

  'GET /forms': { answer: FormView[] }
  'GET /sheets/{slug}/form-guess': { answer: FormGuessView }
  'POST /forms': { input: FormWishInput & { sheetSlug: string }; answer: FormView }
  /** All of it but whether it is open. */
  'POST /forms/{id}': { input: FormWishInput; answer: FormView }
  'PATCH /forms/{id}': { input: { isOpen: boolean }; answer: FormView }
  'POST /forms/{id}/remove': { answer: null }
  'GET /forms/{id}/entries': { answer: HeldEntryView[] }
  /** It is added to the sheet a moment later. */
  'POST /forms/{id}/entries/{entry}/release': { answer: null }
  'POST /forms/{id}/entries/{entry}/discard': { answer: null }
  /** All that it holds. */
  'POST /forms/{id}/release': { answer: { released: number } }

  'GET /webhooks': { answer: WebhookView[] }
  'POST /webhooks': { input: WebhookInput; answer: NewWebhookView }
  'PATCH /webhooks/{id}': { input: { isOn: boolean }; answer: WebhookView }
  /** Sends one message, now, and says what came of it. */
  'POST /webhooks/{id}/test': { answer: DeliveryView }
  /** The old secret signs too for a day. */
  'POST /webhooks/{id}/rotate': { answer: NewWebhookView }
  'POST /webhooks/{id}/replay': { input: ReplayInput; answer: WebhookView }
  'GET /webhooks/{id}/deliveries': { answer: DeliveryView[] }
  'POST /webhooks/{id}/remove': { answer: null }

  'PATCH /account': { input: { slug: string }; answer: SessionView }
  'POST /account/delete': { input: { confirmSlug: string }; answer: null }
  /** A JSON file, for the browser to keep. */
  'GET /export': { answer: never }
  /** The newest first, at most 200. */
  'GET /audit': { answer: AuditEntryView[] }
  'GET /usage': { query: { days: string; sheet: string; key: string }; answer: UsageView }
  'GET /shares': { answer: ShareView[] }
  'GET /shares/used-up': { answer: UsedUpSharesView }
}

export type OwnerVerb = keyof OwnerVerbs
