import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Whole programs first, what lives in this process last: short files fill the end. A project stays together: it shares imports. */
const PROJECTS = ['system', 'redis', 'commands', 'fast']

/** Starts the longest files first: one that begins when all others are done leaves the other workers idle to its end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files) // by its last duration where one is known, else by its size
    const placeOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name)
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
