/** The colours are those of the dashboard (web/src/theme.css), which a page without its scripts cannot share. */
export const docStyle = `:root{color-scheme:light dark;--ground:light-dark(#fbfbfa,#111413);--raised:light-dark(#fff,#181c1a);--sunken:light-dark(#f3f4f3,#0c0e0d);--line:light-dark(#e4e6e4,#2a302d);--text:light-dark(#191d1b,#eceeed);--soft:light-dark(#59615d,#a2aba6);--accent:light-dark(#0f6b63,#4cc9b6)}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.6 system-ui,sans-serif}
a{color:var(--accent)}
a:focus-visible,pre:focus-visible,.wide:focus-visible,select:focus-visible,button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:center;padding:.75rem 1.5rem;border-bottom:1px solid var(--line);background:var(--raised)}
header a{text-decoration:none}
header .home{font-weight:600;color:var(--text)}
header form{margin-left:auto;display:flex;gap:.5rem;align-items:center;font-size:14px;color:var(--soft)}
select,button{font:inherit;padding:.25rem .5rem;border:1px solid var(--line);border-radius:6px;background:var(--ground);color:var(--text)}
.page{display:grid;grid-template-columns:15rem minmax(0,1fr);gap:2.5rem;max-width:76rem;margin:0 auto;padding:1.5rem}
nav h2{margin:1.25rem 0 .25rem;font-size:13px;font-weight:600;color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0;font-size:15px}
nav li a{display:block;padding:.2rem .5rem;border-radius:6px;color:var(--text);text-decoration:none}
nav li a:hover{background:var(--sunken)}
nav li a[aria-current]{background:var(--sunken);color:var(--accent);font-weight:600}
main{min-width:0;max-width:48rem}
h1{font-size:1.9rem;line-height:1.2;margin:.25rem 0 1rem;letter-spacing:-.02em}
h2{font-size:1.35rem;margin:2.25rem 0 .75rem;letter-spacing:-.01em}
h3{font-size:1.1rem;margin:1.75rem 0 .5rem}
h4{font-size:1rem;margin:1.5rem 0 .5rem}
code{font:.875em/1.5 ui-monospace,monospace;background:var(--sunken);padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--sunken);border:1px solid var(--line);border-radius:10px;padding:1rem;overflow:auto}
pre code{background:none;padding:0;overflow-wrap:normal}
.wide{overflow:auto}
table{border-collapse:collapse;font-size:15px;width:100%}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line)}
td:first-child{min-width:7rem}
table code{overflow-wrap:normal}
.note{background:var(--raised);border:1px solid var(--line);border-radius:10px;padding:.75rem 1rem;color:var(--soft);font-size:15px}
.source{margin-top:3rem;font-size:14px;color:var(--soft)}
@media (max-width:52rem){.page{grid-template-columns:minmax(0,1fr);gap:.5rem}nav{order:2;border-top:1px solid var(--line)}header form{margin-left:0}}
`
