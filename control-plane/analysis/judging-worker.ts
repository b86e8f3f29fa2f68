/** The thread that judges what a model has answered: it lives for one answer. */
import { parentPort, workerData } from 'node:worker_threads'
import { judgeAnswer, type AnswerFacts } from './judge-answer.ts'

parentPort?.postMessage(judgeAnswer(workerData as AnswerFacts))
