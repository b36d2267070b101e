/** `WorkflowRegistry`: what can be run, and what runs. */
import { realm } from '../realm.ts'
import { callerModule } from './caller.ts'
import { workflowOf } from './data.ts'
import { kindOf, refuse } from './refuse.ts'
import { launches, registered } from './registered.ts'

/** All registries are the same one: the engine's. */
export class WorkflowRegistry {
    register(workflow: unknown): void {
        const data = workflowOf(workflow)
        if (data === undefined) refuse(`register takes a workflow, not ${kindOf(workflow)}`, 'make one with createWorkflow(..)')
        registered.push({ workflow: data, module: callerModule() })
    }

    list(): Promise<unknown> {
        return realm().ask('registry.list', {})
    }

    /** Starts a run. Its id is known at once; the promise tells whether it was started. */
    launch(workflow: unknown, input?: unknown): Promise<{ runId: string }> & { runId: string } {
        const name = nameOf(workflow)
        const runId = realm().native.uuid7()
        const started = { runId }
        const launch = async () => {
            // What a file launches while it is loaded is started when all files are.
            if (realm().isLoading()) launches.push({ module: callerModule(), runId, workflow: name, input })
            else await realm().ask('registry.launch', { runId, workflow: name, input: input ?? null })
            return started
        }
        return Object.assign(launch(), started)
    }

    getWorkflow(runId: string): RunActor {
        return new RunActor(String(runId))
    }

    getActiveRuns(workflow?: unknown): Promise<unknown> {
        return realm().ask('registry.active', workflow === undefined ? {} : { workflow: nameOf(workflow) })
    }

    cancel(runId: string, reason?: string): Promise<unknown> {
        return realm().ask('registry.cancel', { runId: String(runId), reason })
    }
}

/** A run, by its id. */
class RunActor {
    constructor(readonly runId: string) {}

    /** Everything about it now. */
    getState(): Promise<unknown> {
        return realm().ask('registry.get', { runId: this.runId })
    }

    cancel(reason?: string): Promise<unknown> {
        return realm().ask('registry.cancel', { runId: this.runId, reason })
    }
}

function nameOf(workflow: unknown): string {
    if (typeof workflow === 'string') return workflow
    return workflowOf(workflow)?.name ?? refuse(`a workflow or the name of one is needed, not ${kindOf(workflow)}`)
}
