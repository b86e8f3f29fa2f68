/**
 * Where mails go while no mail server is named: into a file that only the service's user reads,
 * and onto a page whose address `npm start` prints.
 */
import { chmodSync } from 'node:fs'
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { LIMITS } from '../../shared/limits.ts'
import type { Mail, MailTransport } from './mails.ts'

type KeptMail = Mail & { readonly at: number }

export interface Mailbox extends MailTransport {
  /** Newest first. */
  list(): Promise<readonly KeptMail[]>
}

export function openMailbox(file: string): Mailbox {
  let writing = Promise.resolve()

  async function append(mail: KeptMail) {
    await appendFile(file, `${JSON.stringify(mail)}\n`, { mode: 0o600 })
    const lines = await readLines(file)
    if (lines.length <= 2 * LIMITS.mailboxMailsMax) return
    await writeFile(`${file}.new`, `${lines.slice(-LIMITS.mailboxMailsMax).join('\n')}\n`, {
      mode: 0o600,
    })
    await rename(`${file}.new`, file)
  }

  keepPrivate(file)
  return {
    async send({ to, subject, text, at }) {
      const turn = writing.then(() => append({ to, subject, text, at }))
      writing = turn.catch(() => {})
      await turn
    },
    async list() {
      const lines = await readLines(file)
      return lines
        .slice(-LIMITS.mailboxMailsMax)
        .reverse()
        .flatMap((line) => parse(line) ?? [])
    },
    close: () => undefined,
  }
}

function keepPrivate(file: string) {
  try {
    chmodSync(file, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

async function readLines(file: string): Promise<string[]> {
  try {
    return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The last line of a file that was cut off in the middle is no mail. */
function parse(line: string): KeptMail | undefined {
  try {
    return JSON.parse(line) as KeptMail
  } catch {
    return undefined
  }
}
