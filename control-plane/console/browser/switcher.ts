/** `/` or ctrl-k: to a tenant, a page or a person, by a few letters. */

interface Found {
  readonly label: string
  readonly detail: string
  readonly href: string
}

const PAUSE_MS = 120

export function openSwitcher() {
  const dialog = document.querySelector<HTMLDialogElement>('#switcher')
  const input = dialog?.querySelector('input')
  const list = dialog?.querySelector<HTMLElement>('#found')
  const status = dialog?.querySelector<HTMLElement>('[role=status]')
  if (!dialog || !input || !list || !status) return

  let timer = 0
  let asked = 0
  /** What the list answers; and whether Enter waits for the answer to what is in the field. */
  let answered: string | undefined
  let isEntered = false
  const open = () => {
    if (!dialog.open) dialog.showModal()
    input.select()
    void ask()
  }

  async function ask() {
    const turn = ++asked
    const text = input?.value ?? ''
    const query = new URLSearchParams({ q: text, in: dialog?.dataset['in'] ?? '' })
    const answer = await fetch(`/console/search?${query}`, {
      headers: { accept: 'application/json' },
    }).catch(() => undefined)
    if (turn !== asked) return // an older question
    if (answer === undefined || !answer.ok) {
      isEntered = false
      return void say('Search is not available. Try again.')
    }
    const { items } = (await answer.json()) as { items: Found[] }
    if (turn !== asked) return
    list?.replaceChildren(...items.map(entry))
    answered = text
    say(items.length === 0 ? 'No results' : '')
    if (isEntered) enter()
  }

  /** To the first of what was found for the text as it stands, not for the letters before. */
  function enter() {
    isEntered = answered !== input?.value
    if (!isEntered) return void list?.querySelector('a')?.click()
    clearTimeout(timer)
    void ask()
  }

  function say(text: string) {
    if (status) status.textContent = text
  }

  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement
    const isTyping = target.matches('input, textarea, select') || target.isContentEditable
    const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey
    const isCtrlK = event.key === 'k' && (event.ctrlKey || event.metaKey)
    if (!isSlash && !isCtrlK) return
    event.preventDefault()
    open()
  })
  document.querySelector('[data-switcher]')?.addEventListener('click', (event) => {
    event.preventDefault()
    open()
  })
  dialog.addEventListener('close', () => (isEntered = false))
  input.addEventListener('input', () => {
    isEntered = false
    clearTimeout(timer)
    timer = window.setTimeout(() => void ask(), PAUSE_MS)
  })
  dialog.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus()
    else if (event.key === 'ArrowUp') (at <= 0 ? input : links[at - 1])?.focus()
    else if (event.key === 'Enter' && document.activeElement === input) enter()
    else return
    event.preventDefault()
  })
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
}

function entry({ label, detail, href }: Found): HTMLElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = href
  const name = document.createElement('span')
  name.textContent = label
  const hint = document.createElement('span')
  hint.className = 'hint'
  hint.textContent = detail
  link.append(name, hint)
  item.append(link)
  return item
}
