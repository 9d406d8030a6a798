internal import Foundation
internal import ModelResetCommands

func show(_ outcome: Outcome) {
    FileHandle.standardError.write(Data(outcome.errors.utf8))
    FileHandle.standardOutput.write(Data(outcome.output.utf8))
}

let outcome = ModelReset.run(Array(CommandLine.arguments.dropFirst()), print: show)
show(outcome)
exit(outcome.status)
