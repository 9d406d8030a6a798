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
        let isShared = line.takeFlag("--shared")
        if isInMemory && store != nil { throw UsageError(message: "--memory and --store exclude each other") }
        if isInMemory && isShared { throw UsageError(message: "--memory and --shared exclude each other") }
        if let key = line.takeValue("--database-key") { databaseKey = key }
        command = try Self.command(&line)
        if command.readsInput || isInMemory { input = line.takeValue("--input").map(Input.init) ?? input }
        try line.checkEmpty()
        if !isInMemory { place = try CatalogPlace(store, isShared: isShared) }
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
            let isOfMaintainers = line.takeFlag("--maintainer")
            let names = line.takeWords()
            if names.isEmpty { throw UsageError(message: "delete needs a name") }
            return isOfMaintainers ? .deleteMaintainers(keys: names) : .delete(names: names)
        case "depends": return .depends(name: try name(&line, "depends"))
        case "rdepends": return .rdepends(name: try name(&line, "rdepends"))
        case "why": return .why(name: try name(&line, "why"))
        case "watch":
            let section = line.takeValue("--section")
            guard let name = line.takeValue("--rdepends") else { return .watch(.packages(section: section)) }
            if section != nil { throw UsageError(message: "--section and --rdepends exclude each other") }
            return .watch(.dependants(of: name))
        case let word?:
            throw UsageError(message: "There is no command \(word)")
        }
    }

    private static func name(_ line: inout CommandLineWords, _ command: String) throws -> String {
        guard let name = line.takeWord() else { throw UsageError(message: "\(command) needs the name of a package") }
        return name
    }
}
