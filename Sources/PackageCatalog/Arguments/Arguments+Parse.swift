internal import Foundation

extension Arguments {
    init(_ words: some Sequence<String>) throws {
        self.init()
        var line = try CommandLineWords(words)
        if line.takeFlag("--help") {
            command = .help
            return
        }
        let isInMemory = line.takeFlag("--memory")
        let store = line.takeValue("--store")
        if isInMemory && store != nil { throw UsageError(message: "--memory and --store exclude each other") }
        if let key = line.takeValue("--database-key") { databaseKey = key }
        command = try Self.command(&line)
        if command.readsInput || isInMemory { input = line.takeValue("--input").map(Input.init) ?? input }
        try line.checkEmpty()
        if !isInMemory { storeFile = try store.map { URL(filePath: $0) } ?? UserDirectory.storeFile() }
    }

    private static func command(_ line: inout CommandLineWords) throws -> Command {
        switch line.takeWord() {
        case nil:
            return .update
        case "list":
            let section = line.takeValue("--section")
            let search = line.takeValue("--search")
            return .list(ListFilter(section: section, search: search, limit: try line.takeNumber("--limit")))
        case "delete":
            let names = line.takeWords()
            if names.isEmpty { throw UsageError(message: "delete needs the name of a package") }
            return .delete(names: names)
        case "watch":
            return .watch(section: line.takeValue("--section"))
        case let word?:
            throw UsageError(message: "There is no command \(word)")
        }
    }
}
