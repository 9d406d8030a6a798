import Foundation
import TestSupport
import Testing

/// The macros run on the computer that compiles an app, also if the app is for another system. So they need no system library that the
/// app needs.
struct SystemLibraryTests {
    /// The names of the targets in the manifest, and the names in the list of each target's dependencies.
    private static func targets() throws -> (dependencies: [String: Set<String>], systemLibraries: Set<String>) {
        let manifest = try String(contentsOf: PackageFiles.root.appending(component: "Package.swift"), encoding: .utf8)
        var dependencies: [String: Set<String>] = [:]
        var systemLibraries: Set<String> = []
        let declaration = #/\n {8}\.(target|macro|executableTarget|systemLibrary)\(\s*name: "([^"]+)"/#
        let starts = manifest.matches(of: declaration)
        for (index, match) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1].range.lowerBound : manifest.endIndex
            let text = manifest[match.range.upperBound..<end]
            let name = String(match.2)
            if match.1 == "systemLibrary" { systemLibraries.insert(name) }
            guard let list = text.firstMatch(of: #/dependencies: \[([^\]]*)\]/#) else { continue }
            dependencies[name, default: []].formUnion(list.1.matches(of: #/"([^"]+)"/#).map { String($0.1) })
        }
        return (dependencies, systemLibraries)
    }

    private static func reached(from target: String, _ dependencies: [String: Set<String>]) -> Set<String> {
        var reached: Set<String> = []
        var waiting = [target]
        while let next = waiting.popLast() {
            if reached.insert(next).inserted { waiting += dependencies[next] ?? [] }
        }
        return reached
    }

    @Test func theMacrosReachNoSystemLibrary() throws {
        let (dependencies, systemLibraries) = try Self.targets()
        #expect(systemLibraries == ["CSQLite", "CXXHash", "CPostgreSQL"])
        #expect(Self.reached(from: "EntityMacros", dependencies).isDisjoint(with: systemLibraries))
        #expect(Self.reached(from: "EntityMacros", dependencies).contains("ModelSource"))
        #expect(Self.reached(from: "model-codegen", dependencies).contains("CXXHash"))
    }

    @Test(arguments: ["DeclarationRules", "EntityMacros", "ModelSource"])
    func theMacrosImportFoundationAlone(_ target: String) throws {
        let own: Set = ["DeclarationRules", "ModelSource", "Foundation"]
        let folder = PackageFiles.root.appending(components: "Sources", target)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            let modules = text.matches(of: #/(?m)^(?:\w+ )?import (\w+)/#).map { String($0.1) }
            #expect(own.isSuperset(of: modules), "\(file): \(modules)")
        }
    }

    #if os(Linux)
    @Test func theMacroProgramLinksNoSystemLibrary() async throws {
        let program = PackageFiles.products.appending(component: "EntityMacros-tool")
        let run = try await Subprocess("ldd", [program.path])
        #expect(run.status == 0 && run.output.contains("libFoundation"))
        for library in ["xxhash", "sqlite3", "libpq"] { #expect(!run.output.contains(library)) }
    }
    #endif
}
