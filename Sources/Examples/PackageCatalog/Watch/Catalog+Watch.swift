internal import CoreDataSource
internal import DebianControl
internal import Foundation

extension Catalog {
    /// Shows packages or dependencies, and all their changes, until standard input ends. The changes come from the input file
    /// and from commands on standard input.
    ///
    /// - Parameter version: The version of the input file that was read into the store.
    func watch(_ input: Input, since version: FileVersion?, _ subject: WatchSubject) async throws {
        let view: any ListView = Terminal.isInteractive ? ScreenView() : LineView()
        let list = try WatchedList(packages, subject, view)
        list.show()
        for await event in try WatchEvent.all(watching: input, since: version) {
            do {
                view.showMessage(try await answer(event, input))
            } catch {
                view.showMessage("\(error)")
            }
        }
        withExtendedLifetime(list) {}
        try await container.flush()
    }

    private func answer(_ event: WatchEvent, _ input: Input) async throws -> String {
        switch event {
        case .inputChanged: return try await sync(PackageList(input)).first?.description ?? ""
        case .line(let line):
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (words.first, words.last) {
            case ("delete", let name?) where words.count == 2:
                let (line, missing) = try await remove([name])
                return missing?.description ?? line
            case ("add", let file?) where words.count == 2: return try await add(PackageList(Input(file)))
            default: throw CatalogError("Enter delete NAME, or add FILE.")
            }
        }
    }

    /// Adds packages to the stored packages, and counts the packages of their maintainers.
    private func add(_ list: PackageList) async throws -> String {
        let records = MaintainerRecord.all(of: list.packages)
        let keys = list.packages.map(\.key)
        let before = try packages.fetch(Package.self, where: .isIn(\.key, keys)).compactMap { $0.maintainer?.key }
        try await maintainers.add(records)
        let report = try await packages.sync(list.packages, deleting: .none, waitFor: .main)
        try await maintainers.count(Set(before + records.map(\.key)), deletesUnused: true)
        return "packages: inserted=\(report.inserted) updated=\(report.updated)"
    }
}

/// An event during a watch.
enum WatchEvent: Sendable, Equatable {
    /// A line of standard input.
    case line(String)
    case inputChanged

    /// Events from standard input and from the file, in the order of arrival. The events end when standard input ends.
    ///
    /// - Parameter version: The version of the file that was read.
    static func all(watching input: Input, since version: FileVersion?) throws -> AsyncStream<WatchEvent> {
        let events = AsyncStream<WatchEvent>.makeStream()
        let watch = try FileWatch(input, since: version) { events.continuation.yield(.inputChanged) }
        // Reads on a separate thread, because waiting for a line blocks the thread.
        Thread.detachNewThread {
            while let line = readLine(), line != "quit" { events.continuation.yield(.line(line)) }
            watch.end()
            events.continuation.finish()
        }
        return events.stream
    }
}
