/** The other thread: bcrypt here is JavaScript, and would hold up everything that runs beside it. */
import { parentPort } from 'node:worker_threads'
import bcrypt from 'bcryptjs'

export interface BcryptQuestion {
  readonly plain: string
  readonly salt: string
}

parentPort?.on('message', ({ plain, salt }: BcryptQuestion) => {
  let answer: string | undefined
  try {
    answer = bcrypt.hashSync(plain, salt)
  } catch {
    answer = undefined // the password may stand in the message
  }
  parentPort?.postMessage(answer)
})
