import { type Browser, chromium } from 'playwright-core'
import { findProgram } from './find-program.ts'

// Without these it calls home at every start.
const quietArgs = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Loopback by names that browsers do not trust as they trust it: what a server in a local network looks like to them.
  '--host-resolver-rules=MAP *.lan 127.0.0.1',
]

/** The same browser without its window, tabs and menus: three fifths of the work. It is what Playwright takes when it brings its own. */
export function findHeadlessShell(): string | undefined {
  return findProgram(['chromium-headless-shell'], ['/usr/lib/chromium/chromium-headless-shell'])
}

export function findChromium(): string | undefined {
  const shell = findHeadlessShell()
  if (shell) return shell
  return findProgram(
    ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    [
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ],
  )
}

/** Headless, with a new profile that goes with it. It ends when this process does. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('Chromium is not on this machine')
  return chromium.launch({
    executablePath,
    args: quietArgs,
    // The sandbox works neither for root nor in most containers, and the pages are our own.
    chromiumSandbox: false,
    // Playwright's own handlers would keep a test process alive that was told to end.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
}
