/** The thread that estimates strength: its dictionaries are large, and some passwords take long. */
import { parentPort } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import { dictionary as english } from '@zxcvbn-ts/language-en'
import type { StrengthAnswer, StrengthQuestion } from './strength.ts'

const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...dictionary, ...english },
  graphs: adjacencyGraphs,
})

parentPort?.on('message', ({ id, plain, words }: StrengthQuestion) => {
  const { score } = zxcvbn.check(plain, [...words])
  parentPort?.postMessage({ id, score } satisfies StrengthAnswer)
})
parentPort?.postMessage('ready' satisfies StrengthAnswer)
