// Before the first paint, so that a dark page never flashes white. A file of its own: the policy allows no inline script.
const chosen = localStorage.getItem('rowport-theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
