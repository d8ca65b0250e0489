/**
 * What a page can do without, so it is all that there is of scripts: the theme that was chosen in the dashboard, a button that copies
 * each block of code, and a chooser that needs no button.
 */
export const docScript = `const chosen = localStorage.getItem('rowport-theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen

async function copy(block) {
  const text = block.textContent.trimEnd()
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Without TLS there is no clipboard; browsers still copy what is selected.
    getSelection().selectAllChildren(block)
    return document.execCommand('copy')
  }
}

addEventListener('DOMContentLoaded', () => {
  for (const block of document.querySelectorAll('main pre')) {
    const button = document.createElement('button')
    button.textContent = 'Copy'
    button.setAttribute('aria-live', 'polite')
    button.addEventListener('click', async () => {
      button.textContent = (await copy(block)) ? 'Copied' : 'Selected'
      setTimeout(() => (button.textContent = 'Copy'), 1800)
    })
    const frame = document.createElement('div')
    frame.className = 'code'
    block.before(frame)
    frame.append(block, button)
  }
  const sheet = document.querySelector('#sheet')
  sheet?.addEventListener('change', () => sheet.form.submit())
})
`
