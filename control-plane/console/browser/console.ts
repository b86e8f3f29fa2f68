/** What pages of the console do better with a script; every page does without one. */
import { localTimes } from './local-times.ts'
import { followReceipts } from './receipts.ts'
import { openSwitcher } from './switcher.ts'

localTimes(document)
copyButtons()
revealPasswords()
selectAll()
followReceipts()
openSwitcher()

/** Sent as a password again, so that no browser keeps it among what was typed into texts. */
function revealPasswords() {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-reveal]')) {
    const field = document.getElementById(button.dataset['reveal'] ?? '')
    if (!(field instanceof HTMLInputElement)) continue
    const show = (isShown: boolean) => {
      field.type = isShown ? 'text' : 'password'
      button.setAttribute('aria-pressed', String(isShown))
    }
    button.hidden = false
    button.addEventListener('click', () => show(field.type === 'password'))
    field.form?.addEventListener('submit', () => show(false))
  }
}

/** Where all are ticked, it unticks them. */
function selectAll() {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-select]')) {
    const name = button.dataset['select'] ?? ''
    const boxes = [...(button.form?.querySelectorAll<HTMLInputElement>(`[name="${name}"]`) ?? [])]
    button.hidden = false
    button.addEventListener('click', () => {
      const isAll = boxes.every((box) => box.checked)
      for (const box of boxes) box.checked = !isAll
    })
  }
}

function copyButtons() {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    if (!('clipboard' in navigator)) continue // over plain http, but on this machine
    button.hidden = false
    button.addEventListener('click', () => {
      const text = button.parentElement?.querySelector('code')?.textContent ?? ''
      void navigator.clipboard.writeText(text).then(() => {
        button.textContent = 'Copied'
        setTimeout(() => (button.textContent = 'Copy'), 2000)
      })
    })
  }
}
