/** For whoever opens the root in a browser. */
export const frontPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Google emulator</title>
<style>:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif } body { max-width: 45rem; margin: 2rem auto; padding: 0 1rem }</style>
<main>
<h1>Google emulator</h1>
<p>OAuth, Sheets v4 and the parts of Drive v3 that Rowport uses. Nothing here reaches Google.</p>
<ul>
<li><code>/o/oauth2/v2/auth</code>, <code>/token</code>, <code>/revoke</code>, <code>/tokeninfo</code>, <code>/userinfo</code></li>
<li><code>/v4/spreadsheets/…</code> and <code>/drive/v3/…</code></li>
<li><code>/_control/</code>: reset, tokens, spreadsheets, pick, protect, edit, faults, settings, calls, grants, clients, clock. <a href="/_control/calls">See the calls so far</a></li>
</ul>
</main>
`
