/** Colours and fonts are those of the dashboard (web/src/theme.css), which a page without the app cannot share. */
export const docStyle = `:root{color-scheme:light dark;--paper:light-dark(#fbfbfa,#111413);--raised:light-dark(#fff,#181c1a);--sunken:light-dark(#f3f4f3,#0c0e0d);--line:light-dark(#e4e6e4,#2a302d);--line-strong:light-dark(#c9cdca,#434b47);--ink:light-dark(#191d1b,#eceeed);--soft:light-dark(#59615d,#a2aba6);--accent:light-dark(#0f6b63,#4cc9b6);--wash:light-dark(#e3f2ef,#12302c);--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;--mono:ui-monospace,"SF Mono","Cascadia Code",Menlo,Consolas,monospace}
[data-theme=light]{color-scheme:light}
[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;overflow-y:scroll}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 var(--sans);-webkit-font-smoothing:antialiased}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;padding:.5rem .75rem;background:var(--raised)}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:center;min-height:3.5rem;padding:.6rem 1.5rem;border-bottom:1px solid var(--line);background:var(--raised);font-size:15px}
header a{color:var(--soft);text-decoration:none}
header a:hover,header a[aria-current]{color:var(--ink)}
header .home{display:flex;gap:.5rem;align-items:center;font-size:17px;font-weight:600;letter-spacing:-.02em;color:var(--ink)}
header form{margin-left:auto;display:flex;gap:.5rem;align-items:center;font-size:14px;color:var(--soft)}
select,button{font:inherit;font-size:14px;padding:.25rem .5rem;border:1px solid var(--line-strong);border-radius:6px;background:var(--raised);color:var(--ink);cursor:pointer}
select{max-width:14rem}
.page{display:grid;grid-template-columns:15rem minmax(0,1fr);gap:3rem;max-width:70rem;margin:0 auto;padding:1.5rem}
.pages{display:none}
.aside{position:sticky;top:0;align-self:start;max-height:100vh;overflow:auto;padding-bottom:1.5rem}
nav h2{margin:1.25rem 0 .25rem;padding:0 .6rem;font-size:13px;font-weight:600;letter-spacing:0;color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0;font-size:14px}
nav li{margin:0}
nav li a{display:block;padding:.25rem .6rem;border-radius:6px;color:var(--soft);text-decoration:none}
nav li a:hover{background:var(--sunken);color:var(--ink)}
nav li a[aria-current]{background:var(--wash);color:var(--accent);font-weight:500}
nav ul ul{margin:.25rem 0 .5rem .6rem;border-left:1px solid var(--line);font-size:13px}
main{min-width:0;max-width:48rem}
h1{font-size:1.75rem;line-height:1.2;margin:.5rem 0 1rem;letter-spacing:-.02em}
h2{font-size:1.3rem;line-height:1.3;margin:2.5rem 0 .75rem;letter-spacing:-.015em}
h3{font-size:1.1rem;margin:1.75rem 0 .5rem}
h4{font-size:1rem;margin:1.5rem 0 .5rem}
li{margin:.2rem 0}
code{font:.86em/1.5 var(--mono);background:var(--sunken);padding:.12em .3em;border-radius:4px;overflow-wrap:anywhere}
pre{margin:0;padding:.8rem 1rem;overflow:auto;font:13px/1.6 var(--mono)}
pre code{font:inherit;background:none;padding:0;overflow-wrap:normal}
main>pre,.code{margin:1rem 0;background:var(--sunken);border:1px solid var(--line);border-radius:8px}
.code{display:flex;align-items:flex-start}
.code pre{flex:1;min-width:0}
.code button{flex:none;margin:.5rem .5rem 0 0;padding:.15rem .6rem;font-size:13px}
.code button:hover{background:var(--sunken)}
.wide{overflow:auto;margin:1rem 0}
table{border-collapse:collapse;font-size:15px;width:100%}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line)}
td:first-child{min-width:7rem}
table code{overflow-wrap:normal}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);font-size:14px;color:var(--soft)}
@media (max-width:52rem){header{padding:.6rem 1rem;gap:.5rem 1.25rem}header form{margin-left:0;width:100%}.page{display:block;padding:1rem}.aside{display:none}.pages{display:block;margin-bottom:1.25rem;border:1px solid var(--line);border-radius:8px;background:var(--raised)}.pages summary{padding:.5rem .75rem;font-size:15px;cursor:pointer}.pages nav{padding:0 .25rem .75rem}.pages nav h2{margin-top:.75rem}nav li a{padding:.4rem .6rem}h1{font-size:1.6rem}table{min-width:44rem}}
`
