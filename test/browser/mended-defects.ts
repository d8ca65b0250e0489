/**
 * Defects that owners met with in the dashboard, and the tests that keep them away. Each test was seen to fail once its mend was taken
 * away, and can be seen to again: `npm run bring-back -- 5 17` (scripts/bring-back.ts) takes the mends of these two away in a copy,
 * and runs what holds them. test/mended-defects.test.ts sees to it that tests and mends are still where they are said to be.
 */
export interface MendedDefect {
  number: number
  was: string
  heldBy: readonly Hold[]
}

export interface Hold {
  /** Its file and, word for word, its title. */
  test: readonly [file: string, title: string]
  /** What stands in a file because of the defect, and what brings the defect back in its place. */
  mend: readonly [file: string, code: string, without: string]
  /** What the test tells then, among other things. */
  tells: string
}

const offline = {
  delete: [
    'test/browser/offline.test.ts',
    'a row that could not be deleted without a network stays, and so does the row that was typed afterwards',
  ],
  cancel: [
    'test/browser/offline.test.ts',
    'what was cancelled is never sent: confirmed without a network, cancelled, and back on the network',
  ],
  bar: ['test/browser/offline.test.ts', 'without a network the page says so, and from when its data is'],
  sameMachine: [
    'test/browser/offline.test.ts',
    'a browser that believes to be offline asks a server on the same machine all the same',
  ],
} as const
const copying = [
  'test/browser/copying.test.ts',
  'the key that is shown once is copied on plain HTTP too, and is not closed unseen',
] as const
const publicSheets = [
  'test/browser/public-sheets.test.ts',
  'a sheet becomes public only after a question that says what that means, shows it everywhere, and can be taken back',
] as const
const frame = [
  'test/browser/frame.test.ts',
  'the frame stays when the code of a page does not arrive, says when it is slow, and keeps the focus',
] as const
const rows = [
  'test/browser/rows.test.ts',
  'rows are found by a URL that can be sent, read whole, changed with Undo, added and exported',
] as const
const consoleOfTwoTabs = [
  'test/browser/rows.test.ts',
  'the console sends what is on the screen, with bodies that fit, beside a console in another tab',
] as const
const lists = {
  manySheets: [
    'test/browser/lists.test.ts',
    'two hundred sheets: problems first and counted, one found by typing, what is shown stands in the URL',
  ],
  anywhere: ['test/browser/lists.test.ts', 'any page and sheet is a few letters away, by keyboard alone'],
  settings: [
    'test/browser/lists.test.ts',
    'the settings of a sheet show a choice at once, keep what is typed, and rename',
  ],
  keys: [
    'test/browser/lists.test.ts',
    'keys: a snippet that works, names and dates that can be changed, a rotation that breaks nothing, and the focus',
  ],
} as const
const waysIn = {
  steps: [
    'test/browser/ways-in.test.ts',
    'each step of connecting has a URL; the preview says what it changed',
  ],
  armed: [
    'test/browser/ways-in.test.ts',
    'nothing is armed before it is meant: deleting an account, a used link, a plan for reading',
  ],
} as const
const files = {
  kept: [
    'test/browser/files.test.ts',
    'files: seen, replaced and renamed by keyboard, downloaded, kept while a sheet needs them, and deleted',
  ],
  broughtBack: [
    'test/browser/files.test.ts',
    'a sheet whose file cannot be read offers what brings it back: a file that is gone, one that is broken, and the end of it',
  ],
} as const
const docs = [
  'test/browser/docs.test.ts',
  'docs are read and copied by anybody, and after signing in with one’s own URLs, in the theme of the dashboard',
] as const

export const mendedDefects: readonly MendedDefect[] = [
  {
    number: 1,
    was: 'A delete that was sent in the console without a network was done on coming back, to the row that stood in the form by then.',
    heldBy: [
      {
        test: offline.delete,
        mend: [
          'web/src/main.tsx',
          "mutations: { networkMode: 'always', retry: false }",
          'mutations: { retry: false }',
        ],
        tells: 'said at once; no request seen; every row still there',
      },
    ],
  },
  {
    number: 2,
    was: 'What was confirmed without a network and then cancelled (revoke, create, disconnect, delete) was done on coming back.',
    heldBy: [
      {
        test: offline.cancel,
        mend: [
          'web/src/main.tsx',
          "mutations: { networkMode: 'always', retry: false }",
          'mutations: { retry: false }',
        ],
        tells: "getByRole('dialog').getByRole('button', { name: 'Cancel' })",
      },
    ],
  },
  {
    number: 3,
    was: 'Copy did nothing on plain HTTP, also for the key that is shown once.',
    heldBy: [
      {
        test: copying,
        mend: ['web/src/ui/copy.tsx', 'return copyBySelection(text, from)', 'return false'],
        tells: "getByText('Copied')",
      },
    ],
  },
  {
    number: 4,
    was: 'One click made a sheet public, and nothing showed it afterwards.',
    heldBy: [
      {
        test: publicSheets,
        mend: [
          'web/src/pages/sheet/settings/access-section.tsx',
          "access === 'public-read' ? setIsAsking(true) : makePrivate.mutate({ slug, settings: { access } })",
          'makePrivate.mutate({ slug, settings: { access } })',
        ],
        tells: 'PATCH /dashboard/api/sheets/people',
      },
      {
        test: publicSheets,
        mend: [
          'web/src/pages/sheets/sheet-access.tsx',
          `access === 'public-read' && <Badge tone="warn">Public</Badge>`,
          'access === null',
        ],
        tells: "getByText('Public', { exact: true })",
      },
    ],
  },
  {
    number: 5,
    was: 'Without a network, a click on a page that was not opened before ended in the browser’s own page, and what was typed was lost.',
    heldBy: [
      {
        test: frame,
        mend: [
          'web/src/shell/page-loading.ts',
          "throw new PageNotLoaded('The page could not be loaded', { cause })",
          'throw cause',
        ],
        tells: 'This page couldn’t be loaded.',
      },
    ],
  },
  {
    number: 6,
    was: 'Without a network the page looked as if it were alive.',
    heldBy: [
      {
        test: offline.bar,
        mend: ['web/src/shell/silence-bar.tsx', '{silence && (', '{silence === undefined && ('],
        tells: 'You’re offline. Showing data from',
      },
    ],
  },
  {
    number: 7,
    was: 'A browser that believed to be offline asked a server on the same machine for nothing.',
    heldBy: [
      {
        test: offline.sameMachine,
        mend: ['web/src/main.tsx', "      networkMode: 'always',\n", ''],
        tells: "getByText('This month', { exact: true })",
      },
    ],
  },
  {
    number: 8,
    was: 'On a slow network the highlight moved and the page did not, and a search showed the rows of before as its own.',
    heldBy: [
      {
        test: frame,
        mend: ['web/src/routes.tsx', 'defaultPendingMs: 150,', ''],
        tells: "getByRole('status', { name: 'Loading' })",
      },
      {
        test: frame,
        mend: [
          'web/src/shell/page-change.tsx',
          '{isOnItsWay && <div aria-hidden="true" className="on-its-way" />}',
          '',
        ],
        tells: "locator('.on-its-way')",
      },
      {
        test: rows,
        mend: ['web/src/pages/sheet/rows.tsx', "? 'Searching…'", "? ''"],
        tells: "getByText('Searching…')",
      },
      {
        test: rows,
        mend: ['web/src/pages/sheet/rows.tsx', 'aria-busy={page.isPlaceholderData} ', ''],
        tells: "locator('[aria-busy=true]')",
      },
    ],
  },
  {
    number: 9,
    was: 'A choice in the settings of a sheet moved only when the server had answered, and the button of another part turned meanwhile.',
    heldBy: [
      {
        test: lists.settings,
        mend: [
          'web/src/pages/sheet/sheet-change.ts',
          '{ ...former, settings: { ...former.settings, ...chosen } }',
          'former',
        ],
        tells: 'before the server has answered',
      },
    ],
  },
  {
    number: 10,
    was: 'The consoles of two tabs took each other’s key away: the first one was told that its API key was invalid.',
    heldBy: [
      {
        test: consoleOfTwoTabs,
        mend: ['web/src/pages/sheet/as-client.ts', 'if (!isKeyRefused(first)) return first', 'return first'],
        tells: "getByText('200 OK')",
      },
    ],
  },
  {
    number: 11,
    was: 'The body that the console suggested put the word “text” into columns of dates, by a button that said only “Send”.',
    heldBy: [
      {
        test: consoleOfTwoTabs,
        mend: [
          'web/src/pages/sheet/console/console-request.ts',
          '[name, example])',
          "[name, typeof example === 'number' ? 1 : 'text'])",
        ],
        tells: 'added:',
      },
      {
        test: consoleOfTwoTabs,
        mend: ['web/src/pages/sheet/console/console-request.ts', "'Add row to spreadsheet'", "'Send'"],
        tells: "getByRole('button', { name: 'Add row to spreadsheet' })",
      },
    ],
  },
  {
    number: 12,
    was: 'The query of a GET in the console went along with the POST that was chosen afterwards.',
    heldBy: [
      {
        test: consoleOfTwoTabs,
        mend: [
          'web/src/pages/sheet/console/console.tsx',
          'method: target.value, query: null',
          'method: target.value',
        ],
        tells: 'price[gte]=1',
      },
    ],
  },
  {
    number: 13,
    was: '“Delete account” could be pressed before anything was typed.',
    heldBy: [
      {
        test: waysIn.armed,
        mend: ['web/src/pages/settings/danger-section.tsx', 'isReady={typed === account.slug}', 'isReady'],
        tells: 'nothing is typed yet',
      },
    ],
  },
  {
    number: 14,
    was: 'The home said “All done” while sheets were broken, and the list had them at its end.',
    heldBy: [
      {
        test: lists.manySheets,
        mend: [
          'web/src/pages/sheets/sheet-list.ts',
          'attention: (one, other) => Number(needsAttention(other)) - Number(needsAttention(one))',
          'attention: () => 0',
        ],
        tells: "getByRole('table').getByText('Unreadable')",
      },
      {
        test: lists.manySheets,
        mend: ['web/src/shell/shell.tsx', "{to === '/sheets' && <Problems />}", ''],
        tells: "getByText('1 need attention')",
      },
      {
        test: lists.manySheets,
        mend: ['web/src/pages/start/home.tsx', 'if (troubled.length === 0) return null', 'return null'],
        tells: "getByText('1 sheet needs attention')",
      },
    ],
  },
  {
    number: 15,
    was: 'Escape closed the dialog with the key that is shown once, and the key was lost.',
    heldBy: [
      {
        test: copying,
        mend: ['web/src/pages/keys/new-key-dialog.tsx', 'isLocked={isUncopied}', ''],
        tells: 'You haven’t copied this key',
      },
    ],
  },
  {
    number: 16,
    was: 'What somebody was typing in the settings was overwritten when another tab saved.',
    heldBy: [
      {
        test: lists.settings,
        mend: [
          'web/src/pages/sheet/settings/caching-section.tsx',
          'const shown = draft?.typed ?? saved',
          'const shown = draft && isSame(draft.onTopOf, saved) ? draft.typed : saved',
        ],
        tells: 'what is being typed stays',
      },
    ],
  },
  {
    number: 17,
    was: 'Filters, pages and choices of Rows, Usage and Docs were lost on reload, and Back left the rows altogether.',
    heldBy: [
      {
        test: rows,
        mend: ['web/src/pages/sheet/rows.tsx', 'replace: isTyping', 'replace: true'],
        tells: "getByText('1–50 of 121')",
      },
      {
        test: lists.anywhere,
        mend: [
          'web/src/pages/usage/usage-search.ts',
          "...(typeof sheet === 'string' && sheet !== '' && { sheet }),",
          '',
        ],
        tells: 'page.waitForURL',
      },
      {
        test: docs,
        mend: ['src/dashboard/docs/docs.ts', "const asked = query.get('sheet')", 'const asked = null'],
        tells: "getByText('/api/sheets/ada/lamps')",
      },
    ],
  },
  {
    number: 18,
    was: 'Back from the preview of a sheet led to the consent page of Google, and a reload lost what was chosen.',
    heldBy: [
      {
        test: waysIn.steps,
        mend: [
          'web/src/pages/connect/connect-page.tsx',
          'search: { source: provider, ...part }, replace })',
          'search: { source: provider, ...part }, replace: true })',
        ],
        tells: "getByRole('heading', { name: /Choose a tab/ })",
      },
    ],
  },
  {
    number: 19,
    was: 'The focus fell to nowhere after choosing a spreadsheet, following a link to a sheet or revoking a key, and no page was announced.',
    heldBy: [
      {
        test: frame,
        mend: [
          'web/src/shell/page-change.tsx',
          'if (document.activeElement === document.body) heading?.focus({ preventScroll: true })',
          '',
        ],
        tells: "=== 'H1 lamps'",
      },
      {
        test: waysIn.steps,
        mend: [
          'web/src/shell/page-change.tsx',
          'if (document.activeElement === document.body) heading?.focus({ preventScroll: true })',
          '',
        ],
        tells: 'document.activeElement.tagName !== "BODY"',
      },
      {
        test: lists.keys,
        mend: ['web/src/pages/keys/keys-page.tsx', ';(next ?? heading)?.focus({ preventScroll: true })', ''],
        tells: "startsWith('BODY')",
      },
      {
        test: lists.anywhere,
        mend: ['web/src/shell/page-change.tsx', 'setTitle(document.title)', ''],
        tells: "getByText('lanterns · Rowport')",
      },
    ],
  },
  {
    number: 20,
    was: 'Beside each tab stood “26 × 1000”, the size of Google’s grid, which was read as that of the data.',
    heldBy: [
      {
        test: waysIn.steps,
        mend: [
          'web/src/pages/connect/choose-tab.tsx',
          '{tabId === tabs.data.preferredTabId && <span className="text-soft"> (in your link)</span>}',
          '26 × 1000',
        ],
        tells: 'the size of the grid is not that of the data',
      },
    ],
  },
  {
    number: 21,
    was: 'The preview dropped a column without a header, and renamed a repeated one, without a word.',
    heldBy: [
      {
        test: waysIn.steps,
        mend: [
          'src/dashboard/owner-api/connect-verbs.ts',
          'notes: notesOn(columns, columnIndexes),',
          'notes: [],',
        ],
        tells: 'Column C has no header and isn’t served.',
      },
    ],
  },
  {
    number: 22,
    was: 'The preview said “3 columns, 1 rows.”',
    heldBy: [
      {
        test: waysIn.steps,
        mend: ['web/src/pages/connect/name-and-preview.tsx', "count === 1 ? '' : 's'", "'s'"],
        tells: '3 columns, 1 row.',
      },
    ],
  },
  {
    number: 23,
    was: 'A long cell of the rows was cut off, and nothing showed the rest.',
    heldBy: [
      {
        test: rows,
        mend: [
          'web/src/pages/sheet/row/row-panel.tsx',
          '<span className="text-soft">empty</span> : String(value)}',
          '<span className="text-soft">empty</span> : String(value).slice(0, 300)}',
        ],
        tells: "getByText('word word",
      },
    ],
  },
  {
    number: 24,
    was: 'The rows lost their header and row numbers on scrolling, one long name made a column as wide as itself, and wide screens were not used.',
    heldBy: [
      {
        test: rows,
        mend: ['web/src/pages/sheet/rows.tsx', '*:sticky *:top-0 *:z-10', '*:z-10'],
        tells: "head: 'static'",
      },
      {
        test: rows,
        mend: [
          'web/src/pages/sheet/rows.tsx',
          'className={`sticky left-0 bg-raised',
          'className={`bg-raised',
        ],
        tells: "rowNumber: 'static'",
      },
      {
        test: rows,
        mend: [
          'web/src/pages/sheet/rows.tsx',
          'className={`max-w-60 truncate px-3 py-2',
          'className={`px-3 py-2',
        ],
        tells: 'isWideNameCut: false',
      },
      {
        test: rows,
        mend: [
          'web/src/shell/shell.tsx',
          "isWide ? 'max-w-none' : 'max-w-5xl'",
          "isWide ? 'max-w-5xl' : 'max-w-5xl'",
        ],
        tells: 'isTableAsWideAsThePage: false',
      },
      {
        test: rows,
        mend: [
          'web/src/pages/sheet/rows.tsx',
          "numbers.has(name) ? 'text-right' : ''}`}\n                    >",
          "''}`}\n                    >",
        ],
        tells: "numbers: 'start'",
      },
    ],
  },
  {
    number: 25,
    was: 'A number compared with a word found nothing without a word about it, above “0–0 of 0” and no way to clear the filters.',
    heldBy: [
      {
        test: rows,
        mend: ['web/src/pages/sheet/row-filters.tsx', '{hopeless && `', '{!filters && hopeless && `'],
        tells: 'won’t match any row.',
      },
      {
        test: rows,
        mend: [
          'web/src/pages/sheet/rows.tsx',
          'page.data.data.length === 0 ? (',
          'page.data.data.length < 0 ? (',
        ],
        tells: "getByText('No rows match.')",
      },
    ],
  },
  {
    number: 26,
    was: 'Of a sheet that was broken or not read yet, the page said “Columns 0” and offered an empty TypeScript type; a paused one had no banner.',
    heldBy: [
      {
        test: lists.manySheets,
        mend: [
          'web/src/pages/sheet/overview.tsx',
          "{sheet.columns.length === 0 ? '–' : sheet.columns.length}",
          '{sheet.columns.length}',
        ],
        tells: "columns: '0'",
      },
      {
        test: lists.manySheets,
        mend: ['web/src/pages/sheet/snippets.ts', 'if (sheet.columns.length === 0) return requests', ''],
        tells: 'no type of columns that nobody knows',
      },
      {
        test: lists.settings,
        mend: [
          'web/src/pages/sheet/state-banner.tsx',
          "if (state === 'paused') return <Paused slug={slug} />",
          '',
        ],
        tells: "getByText('This sheet is paused.')",
      },
    ],
  },
  {
    number: 27,
    was: 'The page of a broken sheet said why twice, and offered no way out.',
    heldBy: [
      {
        test: files.broughtBack,
        mend: [
          'web/src/pages/sheet/state-banner.tsx',
          "{source.upload === 'missing' && (",
          '{source.upload === null && (',
        ],
        tells: "getByRole('link', { name: 'Upload the file again', exact: true })",
      },
      {
        test: lists.manySheets,
        mend: [
          'web/src/pages/sheet/rows.tsx',
          "page.error instanceof Refused && sheet.state !== 'live' && !page.data",
          'false',
        ],
        tells: "getByText('No rows to show right now.')",
      },
    ],
  },
  {
    number: 28,
    was: 'A mistyped address of a page showed raw JSON.',
    heldBy: [
      {
        test: frame,
        mend: ['src/server/router.ts', '!methods && isPersonAsking(request) && !isOfApi(path)', 'false'],
        tells: "getByText('Page not found')",
      },
    ],
  },
  {
    number: 29,
    was: 'The page of a used sign-in link offered nothing but to use it again.',
    heldBy: [
      {
        test: waysIn.armed,
        mend: [
          'web/src/pages/sign-in/sign-in-link-page.tsx',
          'entering.error instanceof Refused && entering.error.status === 400 ? (',
          'entering.error instanceof Refused && entering.error.status === 0 ? (',
        ],
        tells: "getByRole('link', { name: 'Go to sign in' })",
      },
    ],
  },
  {
    number: 30,
    was: 'A name that cannot stand in a URL was refused only after the question whether to rename, and an empty one in words for nobody.',
    heldBy: [
      {
        test: waysIn.armed,
        mend: [
          'web/src/pages/settings/account-section.tsx',
          'disabled={slug === account.slug || !canBeSlug(slug)}',
          'disabled={slug === account.slug}',
        ],
        tells: 'no question about what cannot be a name',
      },
      {
        test: waysIn.armed,
        mend: [
          'web/src/ui/slug-field.tsx',
          'problem ? asSentence(problem) : (error ?? null)',
          'error ?? null',
        ],
        tells: `getByText('Try "demo-shop".')`,
      },
      {
        test: waysIn.steps,
        mend: ['src/management/accounts/slug.ts', "if (slug === '') return 'enter a name'", ''],
        tells: "getByText('Enter a name.')",
      },
    ],
  },
  {
    number: 31,
    was: 'A sheet could not be renamed.',
    heldBy: [
      {
        test: lists.settings,
        mend: ['web/src/pages/sheet/settings/sheet-settings.tsx', '<NameSection sheet={sheet} />', ''],
        tells: "getByLabel('URL name')",
      },
    ],
  },
  {
    number: 32,
    was: 'An uploaded file could not be replaced, renamed or deleted, and was listed without its size.',
    heldBy: [
      {
        test: files.kept,
        mend: ['web/src/pages/files/files-page.tsx', 'onClick={() => setReplacing(file)}', 'disabled'],
        tells: '/^Replace Price list/ cannot be reached by Tab',
      },
      {
        test: files.kept,
        mend: [
          'web/src/pages/files/files-page.tsx',
          'cell: ({ bytes }) => sizeInWords(bytes),',
          "cell: () => '',",
        ],
        tells: "getByRole('cell', { name: '18 bytes', exact: true })",
      },
      {
        test: files.kept,
        mend: ['web/src/pages/files/files-page.tsx', 'onClick={() => setDeleting(file)}', 'disabled'],
        tells: "getByRole('button', { name: 'Delete Price list 2026.csv' })",
      },
    ],
  },
  {
    number: 33,
    was: 'The name and scope of a key could not be changed, and nothing told which keys nobody used.',
    heldBy: [
      {
        test: lists.keys,
        mend: ['web/src/pages/keys/keys-page.tsx', 'onClick={() => setEditing(key)}', 'disabled'],
        tells: "getByRole('button', { name: 'Edit Website', exact: true })",
      },
      {
        test: lists.keys,
        mend: [
          'web/src/pages/keys/edit-key.tsx',
          'change.mutate({ id: key.id, input })',
          'change.mutate({ id: key.id, input: { ...input, scope: key.scope } })',
        ],
        tells: "getByText('read and write')",
      },
      {
        test: lists.keys,
        mend: [
          'web/src/pages/keys/keys-page.tsx',
          'unused.length > 0 && search.show === undefined && (',
          'unused.length < 0 && (',
        ],
        tells: "getByText('1 key hasn’t been used for 90 days.')",
      },
      {
        test: lists.keys,
        mend: [
          'web/src/pages/keys/keys-page.tsx',
          "{search.show === 'unused' && unused.length > 0 && <RevokeUnused keys={unused} />}",
          '',
        ],
        tells: "getByRole('button', { name: 'Revoke these 1', exact: true })",
      },
    ],
  },
  {
    number: 34,
    was: 'Two hundred sheets were one long page, in the order bulk-1, bulk-10, bulk-100, and could not be searched.',
    heldBy: [
      {
        test: lists.manySheets,
        mend: ['web/src/ui/natural-order.ts', 'numeric: true', 'numeric: false'],
        tells: 'bulk-10',
      },
      {
        test: lists.manySheets,
        mend: ['web/src/pages/sheets/sheet-list.ts', '.includes(wanted))', ".includes('') || wanted === '')"],
        tells: "document.querySelectorAll('tbody tr').length === 2",
      },
    ],
  },
  {
    number: 35,
    was: 'What pages ask the server for every few seconds was not compressed.',
    heldBy: [
      {
        test: ['test/browser/frame.test.ts', 'what a page shows came to Chromium compressed'],
        mend: [
          'src/dashboard/owner-api/owner-api.ts',
          "method === 'GET' ? acceptedCoding(headers['accept-encoding']) : null",
          "method === '' ? acceptedCoding(headers['accept-encoding']) : null",
        ],
        tells: 'bytes for',
      },
    ],
  },
  {
    number: 36,
    was: 'The errors in the docs had lost what marks code as code.',
    heldBy: [
      {
        test: docs,
        mend: [
          'src/dashboard/docs/markdown.ts',
          "part.startsWith('`') && part.length > 2",
          'part.length < 0',
        ],
        tells: 'what is code is marked as code',
      },
    ],
  },
  {
    number: 37,
    was: 'Usage listed “Console” without a sheet, and what the owner tried out there passed for a client’s first request.',
    heldBy: [
      {
        test: consoleOfTwoTabs,
        mend: ['src/management/keys/keys.ts', 'slug === undefined ? name :', 'slug !== null ? name :'],
        tells: "getByRole('cell', { name: 'Console (lamps)', exact: true })",
      },
      {
        test: consoleOfTwoTabs,
        mend: [
          'src/dashboard/owner-api/sheet-verbs.ts',
          'firsts.length === 0 || !isAskedByClients ? null',
          'firsts.length === 0 ? null',
        ],
        tells: "getByRole('heading', { name: 'Send your first request' })",
      },
    ],
  },
  {
    number: 38,
    was: 'Under another name than the server was told, signing in was refused without a word about which address to open.',
    heldBy: [
      {
        test: frame,
        mend: ['src/dashboard/owner-api/owner-api.ts', 'Open the dashboard at $', 'Open $'],
        tells: "getByText('Open the dashboard at",
      },
    ],
  },
  {
    number: 39,
    was: 'A plan for reading offered keys that write, and a server without Google told its owners to take a spreadsheet from there.',
    heldBy: [
      {
        test: waysIn.armed,
        mend: ['web/src/pages/keys/scope-choices.tsx', 'disabled: !canWrite,', ''],
        tells: 'the plan is for reading',
      },
      {
        test: waysIn.armed,
        mend: [
          'web/src/pages/sheets/sheets-page.tsx',
          "` : 'upload a file'",
          "` : 'connect a spreadsheet from Google'",
        ],
        tells: "getByText('Upload a file, preview it as JSON, and choose a URL.')",
      },
    ],
  },
  {
    number: 40,
    was: 'Who had signed in by a link was told a command that looks in another folder than that of the server.',
    heldBy: [
      {
        test: waysIn.armed,
        mend: [
          'src/assemble/dashboard-assembly.ts',
          "isOwnMachine(workshop.baseUrl) ? rowportCommand(config) : 'rowport'",
          "'npm run rowport --'",
        ],
        tells: "getByText('ROWPORT_DATA=",
      },
    ],
  },
]
