import ErrorExpectations
import Foundation
import ManagedModel
import ModelMigration
@testable import ModelReader
import TestSupport
import Testing

/// The lock file knows versions that no bundle has any more.
@Suite struct LockedVersionsTests {
    private let package: TemporaryDirectory

    init() throws {
        package = try TemporaryDirectory()
        try Data().write(to: package.url.appending(path: "Package.swift"))
    }

    private var bundle: URL { package.url.appending(path: "Sources/App/Shop.xcdatamodeld") }

    /// Writes a version of the bundle whose only entity has these attributes: `b<a` has the renaming identifier `a`.
    private func write(_ attributes: String, as version: String = "Shop") throws {
        let elements = attributes.split(separator: " ").map { word in
            let parts = word.split(separator: "<")
            let identifier = parts.count > 1 ? "elementID=\"\(parts[1])\"" : ""
            return "<attribute name=\"\(parts[0])\" \(identifier) optional=\"YES\" attributeType=\"String\"/>"
        }
        let folder = bundle.appending(path: "\(version).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text =
            "<model type=\"com.apple.IDECoreDataModeler.DataModel\"><entity name=\"Item\">\(elements.joined())</entity></model>"
        try Data(text.utf8).write(to: folder.appending(path: "contents"))
        try Data(
            "<plist><dict><key>_XCCurrentVersionName</key><string>\(version).xcdatamodel</string></dict></plist>".utf8
        )
        .write(to: bundle.appending(path: ".xccurrentversion"))
    }

    private var lockFile: URL { package.url.appending(path: "Models/model.lock") }
    private let path = "../Sources/App/Shop.xcdatamodeld"

    private func lock() throws -> ModelLock {
        try ModelLock(text: String(contentsOf: lockFile, encoding: .utf8), file: "model.lock")
    }

    /// What `model-reset check --update` does.
    private func update() throws {
        var lock = FileManager.default.fileExists(atPath: lockFile.path) ? try lock() : ModelLock()
        var locked = LockedModel(try ModelReader.read(bundle, followsVersions: false).model, path: path)
        locked.keepEarlierModels([lock.model(at: path)].compactMap(\.self))
        lock.put(locked)
        try FileManager.default.createDirectory(
            at: lockFile.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(lock.text.utf8).write(to: lockFile)
    }

    /// `b=a`: the values of `b` are those that `a` had in the old model.
    private func sources(from old: ManagedObjectModel, to new: ManagedObjectModel) throws -> String {
        let stored = try #require(old.canonicalModel)
        let plan = MigrationPlan(from: stored, to: new)
        #expect(plan.obstacles == [])
        let (newColumns, oldColumns) = (new.columns(of: new.entities[0]), stored.columns(of: stored.entities[0]))
        return plan.entities[0].attributes.compactMap { position, source in
            guard case .column(let column) = source else { return nil }
            return "\(newColumns[position].name)=\(oldColumns[column].name)"
        }.sorted().joined(separator: " ")
    }

    @Test(arguments: [
        (["name", "fullName<name", "fullName name"], "fullName=name"),
        (["name", "fullName<name", "fullName<name name"], "fullName=name"),
        // The last edit is not locked yet.
        (["a b", "b", "a b z", "a b z y"], "b=b"),
        (["a b", "c<a b", "c a<b", "b<c a z"], "a=b b=a"),
    ])
    func aVersionThatWasEditedInPlaceIsFollowed(_ states: [String], _ expected: String) throws {
        var models: [ManagedObjectModel] = []
        for (index, state) in states.enumerated() {
            try write(state)
            models.append(try ModelReader.read(bundle).model)
            if index < 3 { try update() }
        }
        #expect(try sources(from: models[0], to: models[states.count - 1]) == expected)
    }

    /// Whoever has started each version, and whoever has skipped some, finds the same.
    @Test func aLockFileFollowsNamesAsABundleDoes() throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        let names = ["a", "b", "c", "d"]
        for round in 0..<20 {
            try FileManager.default.removeItem(at: package.url.appending(path: "Models"), ifExists: true)
            var (states, models): ([String], [ManagedObjectModel]) = (["a b"], [])
            for _ in 0..<6 {
                let old = states[states.count - 1].split(separator: " ").map { String($0.prefix(1)) }
                let kept = old.filter { _ in random.next(below: 4) > 0 }
                var free = names.shuffled(using: &random)
                let new = kept.map { name in
                    guard random.next(below: 3) == 0, let other = free.popLast(), !old.contains(other) else {
                        return name
                    }
                    return "\(other)<\(name)"
                }
                let taken = Set(new.map { String($0.prefix(1)) })
                let added = names.filter { !taken.contains($0) && random.next(below: 4) == 0 }
                states.append((new + added).joined(separator: " "))
            }
            for state in states {
                try write(state.isEmpty ? "z" : state)
                models.append(try ModelReader.read(bundle).model)
                try update()
            }
            var known = models[models.count - 1]
            known.follow(models.dropLast().compactMap(\.canonicalModel))
            let read = try ModelReader.read(bundle).model
            #expect(read.earlierVersions == known.earlierVersions, "seed \(seed), round \(round): \(states)")
        }
    }

    @Test func versionsOfTheBundleAndOfTheLockFileAreFollowedInTheirOrder() throws {
        try write("name")
        let first = try ModelReader.read(bundle).model
        try update()
        // The second version is edited in place, and the first one stays in the bundle.
        try write("fullName<name", as: "Shop 2")
        try update()
        try write("fullName name", as: "Shop 2")
        let second = try ModelReader.read(bundle).model
        #expect(try sources(from: first, to: second) == "fullName=name")
        try update()
        try write("name other", as: "Shop 3")
        #expect(try sources(from: first, to: ModelReader.read(bundle).model) == "")
        // What came later says nothing about an earlier version.
        #expect(try ModelReader.read(bundle, version: "Shop").model.earlierVersions == [])
        #expect(try ModelReader.read(bundle, version: "Shop 2").model.earlierVersions == second.earlierVersions)
    }

    /// Nobody knows whether it was before another version, too.
    @Test func aRemovedVersionOfTheLockFilePrecedesTheCurrentOne() throws {
        try write("name", as: "Draft")
        let first = try ModelReader.read(bundle).model
        try update()
        try write("title<name", as: "Draft")
        try update()
        try FileManager.default.removeItem(at: bundle.appending(path: "Draft.xcdatamodel"))
        try write("title name", as: "Shop")
        #expect(try sources(from: first, to: ModelReader.read(bundle).model) == "title=name")
        try write("title name other", as: "Other")
        #expect(try ModelReader.read(bundle, version: "Shop").model.earlierVersions == [])
    }

    @Test func versionsOfBothSidesOfAConflictCameBefore() throws {
        try write("a")
        try update()
        let base = try lock()
        try write("a b")
        try update()
        let ours = try lock()
        try Data(base.text.utf8).write(to: lockFile)
        try write("a c")
        try update()
        let theirs = try lock()
        try write("a b c")
        var merged = LockedModel(try ModelReader.read(bundle).model, path: path)
        merged.keepEarlierModels([ours, theirs].compactMap { $0.model(at: path) })
        #expect(merged.earlier.map(\.canonicalForm) == base.models.map(\.canonicalForm))
    }

    /// A name that was cleaned up is no other version, but who skips versions needs it.
    @Test func anIdentifierThatIsRemovedIsStillKnown() throws {
        try write("name")
        let first = try ModelReader.read(bundle).model
        try update()
        for state in ["title<name", "title"] {
            try write(state)
            try update()
            try update()
        }
        #expect(try lock().models[0].earlier.count == 2)
        #expect(try sources(from: first, to: ModelReader.read(bundle).model) == "title=name")
    }

    @Test func onlyTheNewestAreKept() throws {
        for number in 0..<60 {
            try write("a\(number)")
            try update()
        }
        #expect(try lock().models[0].earlier.count == 50)
        #expect(try lock().models[0].earlier.first?.canonicalForm.contains("a58") == true)
    }

    @Test func aLockFileThatWasEditedIsAWarning() throws {
        try write("a")
        try update()
        try write("b")
        try update()
        let text = try String(contentsOf: lockFile, encoding: .utf8)
        try Data(text.replacing("add   attribute \"a\"", with: "add   attribute \"x\"").utf8).write(to: lockFile)
        let document = try ModelReader.read(bundle)
        #expect(document.model.earlierVersions == [])
        #expect(document.diagnostics.map(\.message).count == 1)
        #expect(document.diagnostics[0].message.hasPrefix("The hash does not match the lines below it."))
        expectThrows(LockFileError.self) { try lock() }
    }

    @Test(arguments: ["Package.swift", ".git"])
    func aLockFileAboveThePackageOrOfOtherModelsSaysNothing(top: String) throws {
        try write("name")
        try update()
        try write("fullName<name")
        try update()
        let text = try String(contentsOf: lockFile, encoding: .utf8)
        try Data(text.replacing("App/Shop", with: "Other/Shop").utf8).write(to: lockFile)
        try write("fullName name")
        #expect(try ModelReader.read(bundle).model.earlierVersions == [])
        try Data(text.utf8).write(to: lockFile)
        #expect(try ModelReader.read(bundle).model.earlierVersions.count == 1)
        try Data().write(to: package.url.appending(path: "Sources/\(top)"))
        #expect(try ModelReader.read(bundle).model.earlierVersions == [])
    }
}

extension LockedVersionsTests {
    /// A bundle that lies anywhere may be in no package, and then nobody looks through all folders.
    @Test func fifteenFoldersAboveThatOfTheBundleAreSearched() throws {
        let deep = try TemporaryDirectory()
        func write(_ attributes: String, to path: String) throws {
            try deep.write(
                contents("<entity name=\"Item\">\(attributes)</entity>"), to: "\(path)/Shop.xcdatamodel/contents")
        }
        func attribute(_ words: String) -> String {
            "<attribute \(words) optional=\"YES\" attributeType=\"String\"/>"
        }
        for (count, isFound) in [(15, true), (16, false)] {
            let path = (0..<count).map { "f\($0)/" }.joined() + "Shop.xcdatamodeld"
            let bundle = deep.url.appending(path: path)
            var lock = ModelLock()
            for words in ["name=\"name\"", "name=\"title\" elementID=\"name\""] {
                try write(attribute(words), to: path)
                var locked = LockedModel(try ModelReader.read(bundle, followsVersions: false).model, path: path)
                locked.keepEarlierModels([lock.model(at: path)].compactMap(\.self))
                lock.put(locked)
            }
            try deep.write(Data(lock.text.utf8), to: "model.lock")
            // Only the lock file tells that the title was called name.
            try write(attribute("name=\"title\"") + attribute("name=\"name\""), to: path)
            let model = try ModelReader.read(bundle).model
            #expect(model.earlierVersions.isEmpty == !isFound, "\(count)")
            try FileManager.default.removeItem(at: deep.url.appending(path: "f0"))
        }
    }
}

extension FileManager {
    fileprivate func removeItem(at url: URL, ifExists: Bool) throws {
        if fileExists(atPath: url.path) { try removeItem(at: url) }
    }
}
