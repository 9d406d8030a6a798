import Foundation
import ManagedModel
import ModelCodeGenerator

/// The source of a program that exercises every relationship of a model, with the properties that were generated for it.
struct RelationshipProgram {
    /// What was generated for the model.
    let generated: String
    /// What says which relationships there are; it goes with Programs/ExercisesRelationships.swift.
    let source: String
    /// How many relationships it exercises, some of them with several entities.
    let relationshipCount: Int
    /// The relationships that it cannot exercise: `Entity.relationship`.
    let skipped: [String]

    private struct Names {
        var className = ""
        var properties: [String: String] = [:]
    }

    init(_ model: ManagedObjectModel) throws {
        generated = ModelCodeGenerator(access: .internal, codeGeneration: .class).source(for: model)
        let names = RelationshipProgram.names(generated)
        guard let modelName = generated.firstMatch(of: #/static let (\S+) = ManagedObjectModel\(/#)?.1 else {
            throw Failure(description: "no model was generated")
        }
        var exercises: [String] = []
        var count = 0
        var skipped: [String] = []
        for entity in model.entities {
            for relationship in entity.relationships {
                let found = RelationshipProgram.exercises(relationship, of: entity, model, names)
                exercises += found
                count += found.isEmpty ? 0 : 1
                if found.isEmpty { skipped.append("\(entity.name).\(relationship.name)") }
            }
        }
        relationshipCount = count
        self.skipped = skipped
        let classes = names.values.map { "\($0.className).self" }.sorted().joined(separator: ", ")
        let parts = stride(from: 0, to: exercises.count, by: 40).map { start in
            "    static func part\(start / 40)() -> [Exercise] {\n        var all: [Exercise] = []\n"
                + exercises[start..<min(start + 40, exercises.count)].map { "        all.append(\($0))\n" }.joined()
                + "        return all\n    }\n"
        }
        source = """
            import CoreDataSource
            import Foundation

            final class AllEntities: DataSource<Int> {
                override class var entities: [ManagedObject.Type] { [\(classes)] }
            }

            @main struct Program {
            \(parts.joined(separator: "\n"))
                @MainActor static func main() async {
                    do {
                        let all: [Exercise] = [\(parts.indices.map { "part\($0)()" }.joined(separator: ", "))].reduce([], +)
                        let exercises = try await Exercises<AllEntities>(all, of: .\(modelName))
                        try await exercises.run()
                        for problem in exercises.problems { print(problem) }
                    } catch {
                        print("failed: \\(error)")
                    }
                }
            }

            """
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// One for the first entities of both ends that can have objects, and one for the last ones.
    private static func exercises(
        _ relationship: RelationshipDescription, of entity: EntityDescription, _ model: ManagedObjectModel,
        _ names: [String: Names]
    ) -> [String] {
        let sources = model.family(ofEntityNamed: entity.name).filter { !$0.isAbstract }
        let ends = model.family(ofEntityNamed: relationship.destinationName).filter { !$0.isAbstract }
        guard let own = names[entity.name], let other = names[relationship.destinationName],
            let property = own.properties[relationship.name], let source = sources.first, let end = ends.first
        else { return [] }
        let inverse = relationship.inverseName.flatMap { name in
            model.entity(named: relationship.destinationName).flatMap { destination in
                model.lineage(of: destination).flatMap(\.relationships).first { $0.name == name }
            }
        }
        let back = inverse.flatMap { inverse in
            inverse.destinationName == entity.name ? other.properties[inverse.name].map { ($0, inverse) } : nil
        }
        if inverse != nil && back == nil { return [] }
        let inverseText =
            back.map { side($0.1, other.className, $0.0) } ?? "Side<\(other.className), \(own.className)>?.none"
        let isStored = !relationship.isTransient && inverse?.isTransient != true
        let pairs =
            sources.count > 1 || ends.count > 1
            ? [(source, end), (sources[sources.count - 1], ends[ends.count - 1])] : [(source, end)]
        return pairs.compactMap { source, end in
            guard let one = names[source.name]?.className, let other = names[end.name]?.className else { return nil }
            return "Exercise(\"\(entity.name).\(relationship.name)\", \(side(relationship, own.className, property)), "
                + "inverse: \(inverseText), isStored: \(isStored), rule: .\(relationship.deleteRule), "
                + "inverseRule: \(inverse.map { ".\($0.deleteRule)" } ?? "nil"), "
                + "make: { (try $0.insert(\(one).self), try $0.insert(\(other).self)) })"
        }
    }

    private static func side(_ relationship: RelationshipDescription, _ name: String, _ property: String) -> String {
        ".\(relationship.isToMany ? relationship.isOrdered ? "ordered" : "toMany" : "toOne")(\\\(name).\(property))"
    }

    /// The class of each entity, and its properties for relationships, as they were generated.
    private static func names(_ source: String) -> [String: Names] {
        var names: [String: Names] = [:]
        var (className, entity, isInside) = ("", "", false)
        for line in source.split(separator: "\n") {
            if let match = line.firstMatch(of: #/^nonisolated class (\S+): /#) {
                className = String(match.1)
            } else if let match = line.firstMatch(of: #/class var entityName: String \{ "(.*)" \}/#) {
                entity = String(match.1)
                names[entity] = Names(className: className)
            } else if line.contains("class var relationshipKeyPaths") {
                isInside = true
            } else if line == "    }" {
                isInside = false
            } else if isInside {
                for match in line.matches(of: #/\\[^.]+\.(\S+): "([^"]*)",/#) {
                    names[entity]?.properties[String(match.2)] = String(match.1)
                }
            }
        }
        return names
    }
}
